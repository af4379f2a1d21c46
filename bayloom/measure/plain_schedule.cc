#include "bayloom/measure/plain_schedule.h"

#include <algorithm>
#include <vector>

#include "bayloom/tensor/primitives.h"

namespace bayloom {
namespace {

/// Refused primitives leave the program as it is, which is all that is needed here.
void Try(const Status&) {}

bool IsSpatial(const Program& program, const Block& block, LoopId loop) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    for (DigitId digit : program.loops[loop].digits) {
      if (block.iters[i].kind == IterKind::kReduction &&
          block.bindings[i].CoefficientOf(digit) != 0) {
        return false;
      }
    }
  }
  return true;
}

/// The part of the loop that fills vector registers, split off if need be; -1 if there is none.
LoopId VectorPart(Program& program, LoopId loop, int64_t lanes) {
  const int64_t extent = program.ExtentOf(loop);
  if (extent <= 2 * lanes) return loop;
  for (int64_t width = 2 * lanes; width > 1; width /= 2) {
    if (extent % width != 0) continue;
    const int64_t factors[] = {extent / width, width};
    Result<std::vector<LoopId>> parts = Split(program, loop, factors);
    return parts ? parts->back() : -1;
  }
  return -1;
}

void ScheduleBlock(Program& program, BlockId id, const Target& target) {
  const Block block = program.blocks[id];
  std::vector<LoopId> spatial, reduction;
  for (LoopId loop : program.LoopsAround(NodeRef::Block(id))) {
    (IsSpatial(program, block, loop) ? spatial : reduction).push_back(loop);
  }
  if (spatial.empty()) return;
  const LoopId outermost = spatial.front();
  if (spatial.size() > 1) {
    std::vector<LoopId> order(spatial.begin(), spatial.end() - 1);
    order.insert(order.end(), reduction.begin(), reduction.end());
    order.push_back(spatial.back());
    if (Status reordered = Reorder(program, order)) {
      const int lanes = target.vector_bytes / ByteSize(program.buffers[block.output].dtype);
      const LoopId vector = VectorPart(program, spatial.back(), std::max(lanes, 1));
      if (vector >= 0) Try(Vectorize(program, vector));
    }
  }
  if (program.loops[outermost].alive) Try(Parallelize(program, outermost));
}

}  // namespace

Program PlainSchedule(const Workload& workload, const Target& target) {
  Program program = Lower(workload);
  for (BlockId block : program.BlocksInOrder()) ScheduleBlock(program, block, target);
  return program;
}

}  // namespace bayloom
