#pragma once

#include <map>
#include <vector>

#include "bayloom/codegen/emit/vector_plan.h"

namespace bayloom {

/// Outputs of a reduction that stay in registers while reduction loops run.
///
///     for top: ... for r: for i in spatial: ... out[i] = combine(out[i], value)
///
/// is carried out as: load the tile of out into registers, run the loops with `spatial` fully
/// unrolled, store the tile. A tile that has too many elements for the registers is cut: the
/// digits in `inner` are unrolled that many steps at a time, and the rest of their steps becomes
/// loops around all of it, which any order of a reduction's spatial loops allows.
struct AccumulatorTile {
  BlockId block = -1;
  LoopId top = -1;              ///< the outermost reduction loop run on one set of registers
  std::vector<LoopId> spatial;  ///< loops below top, outermost first
  std::map<DigitId, int64_t> inner;
  /// A kInit nest that is left out because the registers start at the neutral element.
  NodeRef init;
  bool starts_neutral = false;
};

/// Tiles for all reductions that have one.
std::vector<AccumulatorTile> PlanAccumulators(const Program& program, const Target& target,
                                              const std::map<BlockId, BlockAccesses>& accesses,
                                              const std::map<LoopId, VectorLoop>& vector_loops);

}  // namespace bayloom
