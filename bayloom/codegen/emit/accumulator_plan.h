#pragma once

#include <map>
#include <vector>

#include "bayloom/codegen/emit/vector_plan.h"

namespace bayloom {

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
    DigitId digit;
    int64_t steps;
  };

  BlockId block = -1;
  LoopId root = -1;  ///< outermost loop of the whole
  LoopId top = -1;   ///< outermost reduction loop run on one set of registers
  /// Nothing but the block is computed at and below `root`, so the order of loops is free. If
  /// not, it is so only at and below `nest`; the reduction loops from `top` down to there contain
  /// other computations too.
  bool alone = true;
  NodeRef nest;
  std::vector<LoopId> reduction;  ///< where the order is free; outermost first
  std::vector<LoopId> spatial;    ///< all below `root`, outermost first
  std::vector<Cut> cuts;
  /// A kInit nest that is left out because the registers start at the neutral element; kRoot if
  /// there is none.
  NodeRef init;
  bool starts_neutral = false;

  /// Steps of the digit that are unrolled.
  int64_t StepsOf(const Program& program, DigitId digit) const;
};

/// Tiles for all reductions that have one.
std::vector<AccumulatorTile> PlanAccumulators(const Program& program, const Target& target,
                                              const std::map<BlockId, BlockAccesses>& accesses,
                                              const std::map<LoopId, VectorLoop>& vector_loops);

}  // namespace bayloom
