// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/default_schedule.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/gpu/gpu_rules.h"
#include "bayloom/sketch/pattern.h"
#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

/// Refused primitives leave the program as it is, which is all that is needed here.
void Try(const Status&) {}

bool IsSpatial(const tensor::Program& program, const tensor::Block& block, tensor::LoopId loop) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    for (tensor::DigitId digit : program.loops[loop].digits) {
      if (block.iters[i].kind == tensor::IterKind::kReduction &&
          block.bindings[i].CoefficientOf(digit) != 0) {
        return false;
      }
    }
  }
  return true;
}

/// A loop split in two; -1 where there is no such part.
struct Parts {
  tensor::LoopId rest = -1;
  tensor::LoopId vector = -1;  ///< fills vector registers
};

Parts SplitVectorPart(tensor::Program& program, tensor::LoopId loop, int64_t lanes) {
  const int64_t extent = program.ExtentOf(loop);
  if (extent <= 2 * lanes) return {-1, loop};
  for (int64_t width = 2 * lanes; width > 1; width /= 2) {
    if (extent % width != 0) continue;
    const int64_t factors[] = {extent / width, width};
    Result<std::vector<tensor::LoopId>> parts = tensor::Split(program, loop, factors);
    if (parts) return {parts->front(), parts->back()};
  }
  return {loop, -1};
}

/// The outermost loop that gives every core something to do; -1 if there is none.
tensor::LoopId ParallelLoop(const tensor::Program& program, std::span<const tensor::LoopId> loops,
                            int cores) {
  const auto found = std::find_if(loops.begin(), loops.end(), [&](tensor::LoopId loop) {
    return program.ExtentOf(loop) >= std::max(cores, 2);
  });
  return found == loops.end() ? -1 : *found;
}

/// Splits off the part of a dot product's loop that an instruction sums up; -1 if there is none.
tensor::LoopId TakeDepth(tensor::Program& program, const std::optional<DotAxis>& axis,
                         std::span<const tensor::LoopId> loops,
                         std::vector<tensor::LoopId>& reduction) {
  if (!axis) return -1;
  const auto place = std::ranges::find(reduction, loops[axis->iter]);
  const int64_t factors[] = {-1, axis->depth};
  Result<std::vector<tensor::LoopId>> parts = tensor::Split(program, *place, factors);
  if (!parts) return -1;
  *place = parts->front();
  reduction.push_back(parts->back());
  return parts->back();
}

/// Splits off the rows that are computed together, so that an instruction multiplies matrices; -1,
/// and half the depth, where there is no number of them that is even and divides the extent.
tensor::LoopId TakeRows(tensor::Program& program, std::optional<DotAxis>& axis,
                        std::span<const tensor::LoopId> loops,
                        std::vector<tensor::LoopId>& spatial) {
  constexpr int64_t kMaxRows = 8;
  if (!axis || axis->rows < 0) return -1;
  const auto place = std::ranges::find(spatial, loops[axis->rows]);
  for (int64_t rows = kMaxRows; rows > 1; rows -= 2) {
    const int64_t factors[] = {-1, rows};
    if (program.ExtentOf(*place) % rows != 0) continue;
    Result<std::vector<tensor::LoopId>> parts = tensor::Split(program, *place, factors);
    if (!parts) continue;
    *place = parts->front();
    return parts->back();
  }
  axis->depth /= 2;
  return -1;
}

void ScheduleBlock(tensor::Program& program, tensor::BlockId id, const target::Target& target) {
  const tensor::Block block = program.blocks[id];
  std::vector<tensor::LoopId> spatial, reduction;
  const int last_spatial = LastSpatialIter(block);
  const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(id));
  for (tensor::LoopId loop : loops) {
    (IsSpatial(program, block, loop) ? spatial : reduction).push_back(loop);
  }
  if (spatial.empty()) return;
  const int64_t lanes =
      std::max(target.vector_bytes / tensor::ByteSize(program.buffers[block.output].dtype), 1);
  if (!IsContiguousAlong(program, id, last_spatial)) {
    const tensor::LoopId parallel = ParallelLoop(program, spatial, target.cores);
    if (parallel >= 0) Try(tensor::Parallelize(program, parallel));
    VectorizeCopy(program, id, lanes);
    return;
  }
  std::optional<DotAxis> axis;
  if (IsUntransformed(program, id)) axis = FindDotAxis(program, id, target);
  const tensor::LoopId rows = TakeRows(program, axis, loops, spatial);
  const tensor::LoopId at_once = TakeDepth(program, axis, loops, reduction);
  const auto [rest, vector] = SplitVectorPart(program, spatial.back(), lanes);
  spatial.pop_back();
  tensor::LoopId parallel = ParallelLoop(program, spatial, target.cores);
  std::vector<tensor::LoopId> order = spatial;
  // Where only the innermost axis has work for several cores, reductions go within its outer part.
  if (parallel < 0 && rest >= 0) order.push_back(parallel = rest);
  order.insert(order.end(), reduction.begin(), reduction.end());
  if (rows >= 0) order.push_back(rows);
  if (rest >= 0 && rest != parallel) order.push_back(rest);
  if (vector >= 0) order.push_back(vector);
  if (order.size() == 1 || tensor::Reorder(program, order)) {
    if (at_once >= 0) Try(tensor::Tensorize(program, at_once));
    if (vector >= 0) Try(tensor::Vectorize(program, vector));
  }
  if (parallel >= 0) Try(tensor::Parallelize(program, parallel));
}

tensor::Program PlainGpuProgram(const tensor::Workload& workload, const target::Target& target) {
  constexpr int64_t kThreads = 256;
  tensor::Program program = ApplyRules(workload, InliningRules(), target).front().program();
  program.blocks[program.BlocksInOrder().back()].annotations[kGridThreads] = kThreads;
  PostprocessForGpu(program);
  return program;
}

}  // namespace

tensor::Program DefaultSchedule(const tensor::Workload& workload, const target::Target& target) {
  if (tensor::IsCall(workload)) return tensor::Lower(workload);
  if (target.kind() == target::TargetKind::kNvidiaGpu) return PlainGpuProgram(workload, target);
  // Between two products, copies are in the order of vectors: inlined, they would not be. Between
  // windows and a convolution, what is inlined would be computed again for each channel or window.
  const std::span<const Rule> inlining =
      IsPlain(Recognize(workload)) ? InliningRules() : std::span<const Rule>();
  tensor::Program program = ApplyRules(workload, inlining, target).front().program();
  SplitDividedIterators(program);
  for (tensor::BlockId block : program.BlocksInOrder()) ScheduleBlock(program, block, target);
  return program;
}

}  // namespace bayloom::sketch
