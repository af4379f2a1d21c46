#include "bayloom/sketch/plain_schedule.h"

#include <algorithm>
#include <span>
#include <vector>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/rules/rules.h"
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

/// A loop split in two; -1 where there is no such part.
struct Parts {
  LoopId rest = -1;
  LoopId vector = -1;  ///< fills vector registers
};

Parts SplitVectorPart(Program& program, LoopId loop, int64_t lanes) {
  const int64_t extent = program.ExtentOf(loop);
  if (extent <= 2 * lanes) return {-1, loop};
  for (int64_t width = 2 * lanes; width > 1; width /= 2) {
    if (extent % width != 0) continue;
    const int64_t factors[] = {extent / width, width};
    Result<std::vector<LoopId>> parts = Split(program, loop, factors);
    if (parts) return {parts->front(), parts->back()};
  }
  return {loop, -1};
}

/// The outermost loop that gives every core something to do; -1 if there is none.
LoopId ParallelLoop(const Program& program, std::span<const LoopId> loops, int cores) {
  const auto found = std::find_if(loops.begin(), loops.end(), [&](LoopId loop) {
    return program.ExtentOf(loop) >= std::max(cores, 2);
  });
  return found == loops.end() ? -1 : *found;
}

void ScheduleBlock(Program& program, BlockId id, const Target& target) {
  const Block block = program.blocks[id];
  std::vector<LoopId> spatial, reduction;
  int last_spatial = -1;
  for (LoopId loop : program.LoopsAround(NodeRef::Block(id))) {
    (IsSpatial(program, block, loop) ? spatial : reduction).push_back(loop);
  }
  for (int i = 0; i < static_cast<int>(block.iters.size()); ++i) {
    if (block.iters[i].kind == IterKind::kSpatial) last_spatial = i;
  }
  if (spatial.empty()) return;
  if (!IsContiguousAlong(program, id, last_spatial)) {
    const LoopId parallel = ParallelLoop(program, spatial, target.cores);
    if (parallel >= 0) Try(Parallelize(program, parallel));
    return;
  }
  const int lanes = target.vector_bytes / ByteSize(program.buffers[block.output].dtype);
  const auto [rest, vector] = SplitVectorPart(program, spatial.back(), std::max(lanes, 1));
  spatial.pop_back();
  LoopId parallel = ParallelLoop(program, spatial, target.cores);
  std::vector<LoopId> order = spatial;
  // Where only the innermost axis has work for several cores, reductions go within its outer part.
  if (parallel < 0 && rest >= 0) order.push_back(parallel = rest);
  order.insert(order.end(), reduction.begin(), reduction.end());
  if (rest >= 0 && rest != parallel) order.push_back(rest);
  if (vector >= 0) order.push_back(vector);
  if (order.size() == 1 || Reorder(program, order)) {
    if (vector >= 0) Try(Vectorize(program, vector));
  }
  if (parallel >= 0) Try(Parallelize(program, parallel));
}

}  // namespace

Program PlainSchedule(const Workload& workload, const Target& target) {
  const std::span<const Rule> inlining = CpuRules().first(2);
  Program program = ApplyRules(workload, inlining, target).front().program();
  for (BlockId block : program.BlocksInOrder()) ScheduleBlock(program, block, target);
  return program;
}

}  // namespace bayloom
