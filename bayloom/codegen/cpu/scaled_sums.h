// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>

#include "bayloom/codegen/cpu/dot_emitter.h"
#include "bayloom/codegen/cpu/tile_sums.h"

namespace bayloom::codegen {

/// A register of integers for each position, for the products that have one scale
/// (plan/cpu/scale_blocks.h), and one of floats for the total.
class ScaledSums : public TileSums {
 public:
  ScaledSums(NestContext& nest, const plan::AccumulatorTile& tile, const plan::DotPlan& dot);

  void Begin(int64_t offset, llvm::Value* start) override;
  void Add(ExpressionEmitter& values) override;
  llvm::Value* Result(int64_t offset) override;
  bool Iterate(tensor::LoopId loop, bool unroll, const LoopEmitter::Body& body) override;

 private:
  int64_t OffsetHere() const;
  bool HasLanes() const { return nest_.state.chunk.width > 1; }
  /// Adds the position's integers to its total, and starts them again.
  void AddToTotal();
  void ForEachPosition(size_t from, const LoopEmitter::Body& body);

  NestContext& nest_;
  const plan::AccumulatorTile& tile_;
  const plan::DotPlan& dot_;
  const std::optional<tensor::LoopId> loop_;  ///< of one scale
  std::map<int64_t, llvm::AllocaInst*> totals_, integers_;
  ShiftSums beside_zero_;
};

}  // namespace bayloom::codegen
