// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>

#include "bayloom/codegen/cpu/nest_context.h"
#include "bayloom/codegen/cpu/shift_sums.h"
#include "bayloom/plan/cpu/sum_blocks.h"

namespace bayloom::codegen {

/// How the sums of an accumulator tile are held while its loops are being emitted. A position is
/// known by the constant part of the output's index there, its `offset`; the lanes are those of
/// EmitState::chunk.
class TileSums {
 public:
  virtual ~TileSums() = default;

  /// Makes what holds the sum of the position, with this value; null: the neutral element.
  virtual void Begin(int64_t offset, llvm::Value* start) = 0;
  /// After all positions have begun.
  virtual void BeginLoops() {}
  /// Adds the block's value to the sum of the position.
  virtual void Add(ExpressionEmitter& values) = 0;
  /// The sum of the position, with all that was summed up apart.
  virtual llvm::Value* Result(int64_t offset) = 0;
  /// Runs a loop that is run in a way of its own; false for others.
  virtual bool Iterate(tensor::LoopId /*loop*/, bool /*unroll*/,
                       const LoopEmitter::Body& /*body*/) {
    return false;
  }
};

/// As the plan has them for the tile. `shift`: null if the tile's products are not shifted.
std::unique_ptr<TileSums> MakeTileSums(NestContext& nest, const plan::AccumulatorTile& tile,
                                       const std::optional<plan::SumBlocks>& blocks,
                                       ShiftSums* shift);

}  // namespace bayloom::codegen
