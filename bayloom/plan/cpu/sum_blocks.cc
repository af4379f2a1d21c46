// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/sum_blocks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bayloom/tensor/access.h"

namespace bayloom::plan {
namespace {

/// Terms of a block, unless the sum is so long that more are better. A block costs one addition
/// from and to memory per register, which other multiply-adds would wait for; sums without
/// products wait for their terms or for each other anyway. Where a transform amplifies the errors
/// of sums (Winograd's), shorter blocks are worth it.
constexpr int64_t kTermsOfProducts = 256, kTermsOfAmplified = 64, kTerms = 32;

/// Products of different operands, as in matrix products and convolutions. Squares are not meant:
/// their sums lose most digits, having one sign.
bool IsProduct(const tensor::Expr& value) {
  return value->op == tensor::ExprOp::kMul &&
         !tensor::StructurallyEqual(value->operands[0], value->operands[1]);
}

/// Whether products with a transformed constant are added up, whose sums are transformed back.
bool IsAmplified(const tensor::Program& program, tensor::BlockId block) {
  return std::ranges::any_of(tensor::AccessesOf(program, block), [&](const auto& access) {
    return program.buffers[access.buffer].transform != nullptr;
  });
}

int64_t TermsOfBlocks(const tensor::Program& program, tensor::BlockId block) {
  if (!IsProduct(program.blocks[block].value)) return kTerms;
  return IsAmplified(program, block) ? kTermsOfAmplified : kTermsOfProducts;
}

/// A digit that the tile reduces over.
struct ReducedDigit {
  tensor::LoopId loop;
  tensor::DigitId digit;
  int64_t extent;
};

/// From the slowest to the fastest.
std::vector<ReducedDigit> ReducedDigits(const tensor::Program& program,
                                        const AccumulatorTile& tile) {
  const tensor::Block& block = program.blocks[tile.block];
  std::set<tensor::DigitId> reduced;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    for (const tensor::Affine::Term& term : block.bindings[i].terms) reduced.insert(term.digit);
  }
  std::vector<ReducedDigit> digits;
  bool inside = false;
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(tile.block))) {
    inside = inside || loop == tile.top;
    if (!inside) continue;
    for (tensor::DigitId digit : program.loops[loop].digits) {
      const int64_t extent = program.digit_extents[digit];
      if (extent > 1 && reduced.contains(digit)) digits.push_back({loop, digit, extent});
    }
  }
  return digits;
}

/// The largest divisor of `extent` between max / 2 and max, or max: blocks of equal length need no
/// computed end.
int64_t BlockSteps(int64_t extent, int64_t max) {
  for (int64_t steps = max; steps > max / 2; --steps) {
    if (extent % steps == 0) return steps;
  }
  return max;
}

}  // namespace

bool SumsFloats(const tensor::Program& program, const AccumulatorTile& tile) {
  const tensor::Block& block = program.blocks[tile.block];
  return block.reduction == tensor::Reduction::kSum &&
         program.buffers[block.output].dtype == tensor::DType::kFloat32;
}

int64_t ChainLength(const tensor::Program& program, const AccumulatorTile& tile) {
  int64_t length = 1;
  for (const ReducedDigit& digit : ReducedDigits(program, tile)) length *= digit.extent;
  return length;
}

std::optional<SumBlocks> PlanSumBlocks(const tensor::Program& program, const CpuPlan& plan,
                                       const AccumulatorTile& tile) {
  if (!SumsFloats(program, tile)) return std::nullopt;
  const auto root = std::sqrt(static_cast<double>(ChainLength(program, tile)));
  const int64_t block_terms =
      std::max(TermsOfBlocks(program, tile.block), static_cast<int64_t>(root));
  const std::vector<ReducedDigit> digits = ReducedDigits(program, tile);
  const auto fold = plan.folds.find(tile.block);
  int64_t terms = 1;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (fold != plan.folds.end() && fold->second.loops.front() == digit->loop) {
      terms *= static_cast<int64_t>(fold->second.Chunks().size());
      continue;
    }
    if (terms * digit->extent > block_terms && !plan.unrolled.contains(digit->loop)) {
      const int64_t max = std::max<int64_t>(block_terms / terms, 1);
      return SumBlocks{digit->loop, digit->digit, BlockSteps(digit->extent, max)};
    }
    terms *= digit->extent;
  }
  return std::nullopt;
}

}  // namespace bayloom::plan
