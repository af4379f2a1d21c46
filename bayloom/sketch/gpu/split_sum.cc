// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/gpu/gpu_rules.h"

namespace bayloom::sketch {
namespace {

/// Iterations of the iterator that a part has are a multiple of so many: a panel's row of elements
/// of 16 bits.
constexpr int64_t kPartStep = 64;
/// Iterations of the sum that a part has at least.
constexpr int64_t kMinPart = 128;
/// Elements of tiles of 64 x 64 that give each multiprocessor of a large GPU one.
constexpr int64_t kFillingElements = int64_t{128} * 64 * 64;

/// The reduction that can be split so, the longest one; -1 if none can.
int SplitIter(const tensor::Block& block, int64_t parts) {
  int longest = -1;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const int64_t extent = block.iters[i].extent;
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    if (extent % (parts * kPartStep) != 0) continue;
    if (longest < 0 || extent > block.iters[static_cast<size_t>(longest)].extent) {
      longest = static_cast<int>(i);
    }
  }
  return longest;
}

/// What combines the parts is computed, and stored or used by its only reader, an element a thread.
Status PlaceCombination(tensor::Schedule& schedule, tensor::BlockVar block) {
  Result<tensor::BlockVar> epilogue = EpilogueOf(schedule, block);
  if (!epilogue) return epilogue.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(block);
  if (!loops) return loops.error();
  if (loops->size() < 2) return Error{"nothing to distribute over threads"};
  return schedule.ReverseComputeAt(*epilogue, (*loops)[loops->size() - 2]);
}

Result<std::string> Split(GpuSketch& sketch, const std::string& name, int iter, int64_t parts) {
  tensor::Schedule& schedule = sketch.schedule;
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  Result<std::vector<tensor::LoopVar>> split =
      schedule.Split((*loops)[static_cast<size_t>(iter)], {parts, -1});
  if (!split) return split.error();
  Result<tensor::BlockVar> partial = schedule.RFactor(*block, split->front());
  if (!partial) return partial.error();
  // The order of its iterators.
  (*loops)[static_cast<size_t>(iter)] = split->back();
  loops->insert(loops->begin(), split->front());
  if (Status s = schedule.Reorder(*loops); !s) return s.error();
  if (Status s = PlaceCombination(schedule, *block); !s) return s.error();
  const std::string part = schedule.program().blocks[schedule.Get(*partial)].name;
  sketch.split.insert(part);
  return part;
}

}  // namespace

Result<std::string> SplitSum(GpuSketch& sketch, const std::string& name, int64_t parts) {
  const tensor::Program& program = sketch.schedule.program();
  const tensor::Block& block = program.blocks[program.FindBlock(name)];
  const int iter = SplitIter(block, parts);
  if (iter < 0 || ReductionExtent(block) < parts * kMinPart) {
    return Error{fmt::format("the sum of {} is too short for {} parts", name, parts)};
  }
  if (SpatialExtent(block) * (parts / 2) >= kFillingElements) {
    return Error{fmt::format("{} fills the GPU with fewer than {} parts", name, parts)};
  }
  GpuSketch copy = sketch;
  Result<std::string> partial = Split(copy, name, iter, parts);
  if (partial) sketch = std::move(copy);
  return partial;
}

}  // namespace bayloom::sketch
