// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>

#include "bayloom/plan/cpu/dot_plan.h"
#include "bayloom/tensor/tile_registers.h"

namespace bayloom::plan {

/// How a block's sums go through an instruction for tile registers.
struct TileProduct {
  const target::DotInstruction* instruction = nullptr;
  tensor::DotFactor rows, columns;
  tensor::TileFill fill;
  int64_t row_stride = 0;    ///< of `rows`, in bytes
  int64_t group_stride = 0;  ///< of `columns`, in bytes

  /// Tile registers of the processor: for sums and for both factors.
  static constexpr int kRegisters = 8;
};

/// nullopt where the target lacks the instruction for these types, or the block's loops and the
/// order of its operands are not those above.
std::optional<TileProduct> PlanTileProduct(
    const tensor::Program& program, const target::Target& target, const DotPlan& dot,
    tensor::BlockId block, const BlockAccesses& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops);

}  // namespace bayloom::plan
