// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/dot_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

bool IsNarrow(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8 || dtype == DType::kInt16 ||
         dtype == DType::kBFloat16 || dtype == DType::kFloat16 || dtype == DType::kTFloat32;
}

std::optional<int64_t> PaddingOf(const Expr& e) {
  if (e->op == ExprOp::kInt) return e->int_value;
  if (e->op == ExprOp::kFloat && e->float_value == 0) return 0;
  return std::nullopt;
}

/// element or select(condition, the same, padding).
std::optional<DotFactor> MatchNarrow(const Expr& e) {
  if (e->op == ExprOp::kLoad) return DotFactor{.load = e, .value = e};
  if (e->op != ExprOp::kSelect) return std::nullopt;
  std::optional<DotFactor> factor = MatchNarrow(e->operands[1]);
  const std::optional<int64_t> padding = PaddingOf(e->operands[2]);
  if (!factor || !padding) return std::nullopt;
  const bool is_only_one = !factor->condition.defined();
  factor->value = e;
  factor->condition = is_only_one ? e->operands[0] : e->operands[0] && factor->condition;
  if (is_only_one) {
    factor->otherwise = padding;
  } else if (factor->otherwise != padding) {
    factor->otherwise.reset();
  }
  return factor;
}

/// A cast of those.
std::optional<DotFactor> MatchWhole(const Expr& e) {
  if (e->op != ExprOp::kCast || !IsNarrow(e->operands[0]->dtype)) return std::nullopt;
  return MatchNarrow(e->operands[0]);
}

/// That, or a few bits of a byte: byte >> shift & mask.
std::optional<DotFactor> MatchFactor(const Expr& e) {
  if (e->op != ExprOp::kAnd) return MatchWhole(e);
  const Expr& shifted = e->operands[0];
  const Expr& mask = e->operands[1];
  if (shifted->op != ExprOp::kShiftRight || mask->op != ExprOp::kInt) return std::nullopt;
  std::optional<DotFactor> factor = MatchWhole(shifted->operands[0]);
  const bool is_part = factor && factor->dtype() == DType::kUInt8 && !factor->condition.defined() &&
                       mask->int_value > 0 && mask->int_value < 0xff;
  if (!is_part) return std::nullopt;
  factor->shift = shifted->operands[1];
  factor->mask = mask->int_value;
  return factor;
}

/// Two factors that one instruction takes, and the type that it sums up in.
bool GoTogether(DType a, DType b, DType sum) {
  if (IsFloat(a) || IsFloat(b)) return a == b && sum == DType::kFloat32;
  return ByteSize(a) == ByteSize(b) && sum == DType::kInt32;
}

std::optional<DotProduct> MatchProduct(const Expr& value) {
  std::optional<DotFactor> a = MatchFactor(value->operands[0]);
  std::optional<DotFactor> b = MatchFactor(value->operands[1]);
  if (!a || !b || !GoTogether(a->dtype(), b->dtype(), value->dtype)) return std::nullopt;
  return DotProduct{*std::move(a), *std::move(b), std::nullopt};
}

/// float32 of a product of integers.
bool IsSumOfIntegers(const Expr& e) {
  return e->op == ExprOp::kCast && e->dtype == DType::kFloat32 &&
         e->operands[0]->op == ExprOp::kMul && e->operands[0]->dtype == DType::kInt32;
}

/// The factors of nested products.
void TakeFactors(const Expr& e, std::vector<Expr>& factors) {
  if (e->op != ExprOp::kMul) return factors.push_back(e);
  for (const Expr& operand : e->operands) TakeFactors(operand, factors);
}

/// float32(a * b) * scale or float32(a * (b - zero)) * scale.
std::optional<DotProduct> MatchScaled(const Expr& value) {
  std::vector<Expr> factors;
  TakeFactors(value, factors);
  const auto sum = std::ranges::find_if(factors, IsSumOfIntegers);
  if (sum == factors.end()) return std::nullopt;
  Expr product = (*sum)->operands[0];
  factors.erase(sum);
  BlockScale block{factors[0], {}};
  for (size_t i = 1; i < factors.size(); ++i) {
    block.scale = Binary(ExprOp::kMul, block.scale, factors[i]);
  }
  const Expr& b = product->operands[1];
  if (b->op == ExprOp::kSub || b->op == ExprOp::kAdd) {
    // What a literal is taken away from has been written as a sum.
    block.zero = b->op == ExprOp::kSub ? b->operands[1] : -b->operands[1];
    product = Binary(ExprOp::kMul, product->operands[0], b->operands[0]);
  }
  std::optional<DotProduct> matched = MatchProduct(product);
  const bool is_whole =
      matched && !matched->a.condition.defined() && !matched->b.condition.defined();
  if (!is_whole) return std::nullopt;
  matched->block = std::move(block);
  return matched;
}

bool Moves(const Expr& e, int iter) {
  if (!e.defined()) return false;
  bool moves = false;
  Visit(e, [&](const Expr& node) {
    moves = moves || (node->op == ExprOp::kIter && node->index == iter);
  });
  return moves;
}

/// Whether the digit counts neighbouring values of one reduction iterator, and of nothing else.
bool IsFastestOfOneAxis(const Block& block, DigitId digit) {
  int moved = 0;
  bool fastest = false;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const int64_t coefficient = block.bindings[i].CoefficientOf(digit);
    if (coefficient == 0) continue;
    ++moved;
    fastest = coefficient == 1 && block.iters[i].kind == IterKind::kReduction;
  }
  return moved == 1 && fastest;
}

bool ReducesBelow(const Program& program, const Block& block, NodeRef node) {
  return std::ranges::any_of(program.BodyOf(node), [&](NodeRef child) {
    return child.is_loop() && (ReducesOver(program, block, program.loops[child.id].digits) ||
                               ReducesBelow(program, block, child));
  });
}

}  // namespace

std::optional<DotProduct> MatchDotProduct(const Block& block) {
  if (block.kind != BlockKind::kReduce && block.kind != BlockKind::kUpdate) return std::nullopt;
  const Expr& value = block.value;
  if (block.reduction != Reduction::kSum || value->op != ExprOp::kMul) return std::nullopt;
  std::optional<DotProduct> product = MatchProduct(value);
  return product || value->dtype != DType::kFloat32 ? product : MatchScaled(value);
}

bool DotProduct::HasOneScaleAlong(int iter) const {
  return !block || (!Moves(block->scale, iter) && !Moves(block->zero, iter));
}

bool DotProduct::SumsAlong(int iter) const {
  return HasOneScaleAlong(iter) && !Moves(a.shift, iter) && !Moves(b.shift, iter);
}

Result<BlockId> BlockToTensorize(const Program& program, LoopId loop) {
  const std::vector<BlockId> blocks = program.BlocksBelow(NodeRef::Loop(loop));
  if (blocks.size() != 1) {
    return Error{fmt::format("cannot tensorize loop {}: {} blocks are computed in it, not one",
                             loop, blocks.size())};
  }
  const Block& block = program.blocks[blocks[0]];
  const std::optional<DotProduct> product = MatchDotProduct(block);
  if (!product) {
    return Error{
        fmt::format("cannot tensorize loop {}: {} is no sum of products of two elements of 8 or "
                    "16 bits, or of tf32",
                    loop, block.name)};
  }
  const DigitId digit = OnlyDigit(program, loop);
  if (digit < 0 || !IsFastestOfOneAxis(block, digit)) {
    return Error{fmt::format(
        "cannot tensorize loop {}: it is not the fastest part of one reduction axis", loop)};
  }
  for (size_t iter = 0; iter < block.iters.size(); ++iter) {
    if (block.bindings[iter].CoefficientOf(digit) == 0 ||
        product->SumsAlong(static_cast<int>(iter))) {
      continue;
    }
    return Error{
        fmt::format("cannot tensorize loop {}: its products differ in their scales", loop)};
  }
  const int64_t extent = program.ExtentOf(loop);
  const bool for_warps = IsFloat(product->a.dtype()) && extent == product->warp_depth();
  const bool for_one =
      product->depth() > 1 && (extent == product->depth() || extent == product->matrix_depth());
  if (!for_one && !for_warps) {
    return Error{fmt::format(
        "cannot tensorize loop {} of extent {}: instructions sum up {} or {} products of {}", loop,
        extent, product->depth(), product->matrix_depth(), ToString(product->a.dtype()))};
  }
  if (ReducesBelow(program, block, NodeRef::Loop(loop))) {
    return Error{fmt::format("cannot tensorize loop {}: {} reduces over a loop inside of it", loop,
                             block.name)};
  }
  return blocks[0];
}

}  // namespace bayloom::tensor
