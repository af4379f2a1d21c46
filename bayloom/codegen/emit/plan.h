#pragma once

#include <map>
#include <set>

#include "bayloom/codegen/emit/epilogue_plan.h"
#include "bayloom/codegen/emit/memory_plan.h"
#include "bayloom/codegen/emit/vector_plan.h"

namespace bayloom {

/// Everything that is decided about a program's code before any is emitted.
struct EmitPlan {
  MemoryPlan memory;
  std::map<BlockId, BlockAccesses> accesses;
  std::map<LoopId, VectorLoop> vector_loops;  ///< others are run serially
  std::map<LoopId, AccumulatorTile> tiles;    ///< by AccumulatorTile::root
  std::map<BlockId, TileEpilogue> epilogues;  ///< by AccumulatorTile::block
  std::set<LoopId> unrolled;
  std::set<BlockId> absorbed;       ///< kInit blocks and consumers that tiles make superfluous
  std::set<LoopId> absorbed_loops;  ///< and the nests around them
};

/// Fails when the program cannot be emitted for a CPU or would become too long.
Result<EmitPlan> MakeEmitPlan(const Program& program, const Target& target);

/// Decides on unrolling, `unrolled`, from everything else in the plan. Fails as above.
Status PlanUnrolling(const Program& program, EmitPlan& plan);

}  // namespace bayloom
