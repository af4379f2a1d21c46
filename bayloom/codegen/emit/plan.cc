#include "bayloom/codegen/emit/plan.h"

namespace bayloom {
namespace {

bool IsForCpu(LoopKind kind) { return kind <= LoopKind::kUnrolled; }

/// All live loops, outer ones before inner ones.
std::vector<LoopId> LoopsBelow(const Program& program, NodeRef node) {
  std::vector<LoopId> loops;
  for (NodeRef child : program.BodyOf(node)) {
    if (!child.is_loop()) continue;
    loops.push_back(child.id);
    const std::vector<LoopId> below = LoopsBelow(program, child);
    loops.insert(loops.end(), below.begin(), below.end());
  }
  return loops;
}

void LeaveOut(const Program& program, NodeRef nest, EmitPlan& plan) {
  if (nest.is_loop()) plan.absorbed_loops.insert(nest.id);
  for (BlockId block : program.BlocksBelow(nest)) plan.absorbed.insert(block);
}

}  // namespace

Result<EmitPlan> MakeEmitPlan(const Program& program, const Target& target) {
  EmitPlan plan;
  plan.memory = PlanMemory(program);
  for (BlockId block : program.BlocksInOrder()) {
    Result<BlockAccesses> accesses = PlaceAccesses(program, plan.memory, program.blocks[block]);
    if (!accesses) return accesses.error();
    plan.accesses.emplace(block, std::move(*accesses));
  }
  std::set<LoopId> inside_vector;
  for (LoopId loop : LoopsBelow(program, NodeRef::Root())) {
    const LoopKind kind = program.loops[loop].kind;
    if (!IsForCpu(kind)) {
      return Error{"'" + program.name +
                   "' has a loop bound to accelerator threads, which a CPU "
                   "has not"};
    }
    if (kind != LoopKind::kVectorized) continue;
    if (inside_vector.contains(loop)) continue;
    if (auto vector = PlanVectorLoop(program, target, plan.accesses, loop)) {
      inside_vector.insert(vector->loops.begin(), vector->loops.end());
      plan.vector_loops.emplace(loop, std::move(*vector));
    }
  }
  for (AccumulatorTile& tile :
       PlanAccumulators(program, target, plan.accesses, plan.vector_loops)) {
    const auto [place, added] = plan.tiles.emplace(tile.root, std::move(tile));
    if (!added) continue;
    if (place->second.init != NodeRef::Root()) LeaveOut(program, place->second.init, plan);
    if (auto epilogue = PlanEpilogue(program, plan.memory, place->second)) {
      LeaveOut(program, epilogue->nest, plan);
      plan.epilogues.emplace(place->second.block, *std::move(epilogue));
    }
  }
  if (Status status = PlanUnrolling(program, plan); !status) return status.error();
  return plan;
}

}  // namespace bayloom
