// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <numeric>

#include "bayloom/codegen/internal/emit/arithmetic.h"
#include "bayloom/codegen/internal/emit/nest.h"
#include "bayloom/codegen/internal/emit/reduction.h"

namespace bayloom::codegen {

const VectorLoop* NestEmitter::FoldAt(tensor::LoopId loop) const {
  for (const Slots& slots : active_) {
    const auto fold = plan_.folds.find(slots.tile->block);
    if (fold != plan_.folds.end() && fold->second.loops.front() == loop) return &fold->second;
  }
  return nullptr;
}

int NestEmitter::LanesOfSlots(const AccumulatorTile& tile) const {
  const auto fold = plan_.folds.find(tile.block);
  return fold == plan_.folds.end() ? state_.chunk.width : fold->second.width;
}

/// The values of a chunk in the first lanes of a register of so many, neutral ones behind them.
llvm::Value* NestEmitter::WithNeutralLanes(const tensor::Block& block, llvm::Value* values,
                                           int lanes) {
  const Chunk chunk = state_.chunk;
  values = Splat(builder_, values, chunk.width);
  llvm::Value* neutral = Splat(builder_, NeutralValue(state_, block), lanes);
  std::vector<int> widened(lanes, -1), chosen(lanes);
  if (chunk.width == 1) {
    return builder_.CreateInsertElement(neutral, values, uint64_t{0});
  }
  for (int l = 0; l < chunk.active; ++l) widened[l] = l;
  for (int l = 0; l < lanes; ++l) chosen[l] = l < chunk.active ? l : lanes + l;
  return builder_.CreateShuffleVector(builder_.CreateShuffleVector(values, widened), neutral,
                                      chosen);
}

/// Combines the lanes of a register, halves with each other.
llvm::Value* NestEmitter::Folded(const tensor::Block& block, llvm::Value* lanes) {
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  const tensor::ExprOp op = CombiningOp(block.reduction);
  for (int half = LanesOf(lanes) / 2; half > 1; half /= 2) {
    std::vector<int> low(half), high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    lanes = EmitBinary(builder_, op, dtype, builder_.CreateShuffleVector(lanes, low),
                       builder_.CreateShuffleVector(lanes, high));
  }
  return EmitBinary(builder_, op, dtype, builder_.CreateExtractElement(lanes, uint64_t{0}),
                    builder_.CreateExtractElement(lanes, uint64_t{1}));
}

}  // namespace bayloom::codegen
