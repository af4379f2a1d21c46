// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/fold_plan.h"

#include <algorithm>

namespace bayloom::plan {
namespace {

/// The loop's only digit with more than one step; -1 if there are others.
tensor::DigitId OnlyLongDigit(const tensor::Program& program, tensor::LoopId loop) {
  tensor::DigitId only = -1;
  for (tensor::DigitId digit : program.loops[loop].digits) {
    if (program.digit_extents[digit] == 1) continue;
    if (only >= 0) return -1;
    only = digit;
  }
  return only;
}

bool CombinesExactTypes(tensor::DType dtype) {
  return dtype == tensor::DType::kFloat32 || dtype == tensor::DType::kFloat64 ||
         dtype == tensor::DType::kInt32 || dtype == tensor::DType::kInt64;
}

/// Whether the digit runs along memory, in some load, and nowhere else than there.
bool RunsAlongMemory(const BlockAccesses& accesses, tensor::DigitId digit) {
  bool along = false;
  for (const auto& [node, load] : accesses.loads) {
    const int64_t step = load.affine.CoefficientOf(digit);
    if (!load.dynamic.empty() || (step != 0 && step != 1)) return false;
    along = along || step == 1;
  }
  return along && accesses.store.affine.CoefficientOf(digit) == 0;
}

}  // namespace

std::map<tensor::BlockId, VectorLoop> PlanFolds(
    const tensor::Program& program, const target::Target& target,
    const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops,
    const std::map<tensor::BlockId, DotPlan>& dots,
    const std::map<tensor::LoopId, AccumulatorTile>& tiles) {
  std::map<tensor::BlockId, VectorLoop> folds;
  for (const auto& [root, tile] : tiles) {
    const tensor::Block& block = program.blocks[tile.block];
    const bool in_vectors = std::ranges::any_of(
        tile.spatial, [&](tensor::LoopId loop) { return vector_loops.contains(loop); });
    if (!tile.alone || tile.reduction.empty() || in_vectors || dots.contains(tile.block) ||
        !CombinesExactTypes(program.buffers[block.output].dtype)) {
      continue;
    }
    const tensor::LoopId loop = tile.reduction.back();
    const tensor::DigitId digit = OnlyLongDigit(program, loop);
    if (digit < 0 || !RunsAlongMemory(accesses.at(tile.block), digit)) continue;
    VectorLoop fold;
    fold.loops = {loop};
    fold.lanes = {digit};
    fold.lane_count = program.digit_extents[digit];
    fold.width = std::max(1, target.vector_bytes / WidestElement(program, block));
    fold.masks = target.vector_bytes >= 64;
    if (fold.width > 1 && fold.lane_count >= fold.width) folds.emplace(tile.block, fold);
  }
  return folds;
}

int64_t FoldRegisters(const VectorLoop& fold, int64_t results) {
  // Enough for additions not to wait for each other; a result takes no more than so many of them.
  constexpr int64_t kInFlight = 8, kMost = 4;
  return std::max<int64_t>(std::min({kMost, kInFlight / results, fold.lane_count / fold.width}), 1);
}

}  // namespace bayloom::plan
