// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <vector>

#include "bayloom/plan/cpu/dot_plan.h"
#include "bayloom/plan/cpu/tile_product.h"
#include "bayloom/plan/vector_plan.h"

namespace bayloom::plan {

/// Outputs of a reduction that stay in registers while reduction loops run:
///
///     for (what is cut off from `spatial`)          `cuts`, outermost first
///       load the tile of the output into registers, or start at the neutral element
///       for r in reduction                          from `top` inwards
///         for s in spatial, fully unrolled
///           register[s] = combine(register[s], value)
///       store the tile
///
/// The schedule says which spatial loops are inside the reduction loops and which directly
/// around. Both may be taken into the tile or left out in part: the order in which one element's
/// values are combined stays the same, and so does what the loops around the whole see. This
/// makes up for inner tiles that have too many or too few elements for the registers.
struct AccumulatorTile {
  /// The first `steps` steps of a digit are unrolled, the rest becomes a loop around the tile.
  struct Cut {
    tensor::DigitId digit;
    int64_t steps;
  };

  tensor::BlockId block = -1;
  tensor::LoopId root = -1;  ///< outermost loop of the whole
  tensor::LoopId top = -1;   ///< outermost reduction loop run on one set of registers
  /// Only the block is computed at and below `root`, so the order of loops is free. If
  /// not, it is so only at and below `nest`; the reduction loops from `top` down to there contain
  /// other computations too.
  bool alone = true;
  tensor::NodeRef nest;
  std::vector<tensor::LoopId> reduction;  ///< where the order is free; outermost first
  std::vector<tensor::LoopId> spatial;    ///< all below `root`, outermost first
  std::vector<Cut> cuts;
  /// There are no registers for values that are loaded before they are used.
  bool loads_in_turn = false;
  /// A kInit nest that is left out because the registers start at the neutral element; kRoot if
  /// there is none.
  tensor::NodeRef init;
  bool starts_neutral = false;

  /// Steps of the digit that are unrolled.
  int64_t StepsOf(const tensor::Program& program, tensor::DigitId digit) const;
};

/// Tiles for all reductions that have one.
std::vector<AccumulatorTile> PlanAccumulators(
    const tensor::Program& program, const target::Target& target,
    const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops,
    const std::map<tensor::BlockId, DotPlan>& dots,
    const std::map<tensor::BlockId, TileProduct>& tile_products);

}  // namespace bayloom::plan
