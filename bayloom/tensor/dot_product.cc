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
  if (e->op == ExprOp::kLoad) return DotFactor{e, e, {}};
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
std::optional<DotFactor> MatchFactor(const Expr& e) {
  if (e->op != ExprOp::kCast || !IsNarrow(e->operands[0]->dtype)) return std::nullopt;
  return MatchNarrow(e->operands[0]);
}

/// Two factors that one instruction takes, and the type that it sums up in.
bool GoTogether(DType a, DType b, DType sum) {
  if (IsFloat(a) || IsFloat(b)) return a == b && sum == DType::kFloat32;
  return ByteSize(a) == ByteSize(b) && sum == DType::kInt32;
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
  std::optional<DotFactor> a = MatchFactor(value->operands[0]);
  std::optional<DotFactor> b = MatchFactor(value->operands[1]);
  if (!a || !b || !GoTogether(a->dtype(), b->dtype(), value->dtype)) return std::nullopt;
  return DotProduct{*std::move(a), *std::move(b)};
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
