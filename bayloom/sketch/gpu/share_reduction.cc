// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/gpu/gpu_rules.h"
#include "bayloom/sketch/loops_by_kind.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"

namespace bayloom::sketch {
namespace {

/// Elements that a block reduces to at most, and threads for each: together within a block's.
constexpr int64_t kMaxElements = 4;
const std::vector<int64_t>& ThreadChoices() {
  static const std::vector<int64_t> choices = {4, 8, 16, 32, 64, 128, 256};
  return choices;
}

Result<GpuSketch> Share(GpuSketch sketch, const std::string& name) {
  tensor::Schedule& schedule = sketch.schedule;
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<LoopsByKind> loops = OwnLoopsByKind(schedule, *block);
  if (!loops) return loops.error();
  auto& [spatial, reduction] = *loops;
  const auto fuse = [&](const std::vector<tensor::LoopVar>& all) {
    return all.size() == 1 ? Result<tensor::LoopVar>(all[0]) : schedule.Fuse(all);
  };
  if (!spatial.empty()) {
    // Factors of a fused loop need not fall on its parts; those of one iterator always split it.
    Result<std::vector<tensor::LoopVar>> parts =
        TilePerfectly(schedule, spatial.back(), 2, kMaxElements);
    if (!parts) return parts.error();
    spatial.back() = (*parts)[0];
    Result<tensor::LoopVar> blocks = fuse(spatial);
    if (!blocks) return blocks.error();
    if (Status s = schedule.Bind(*blocks, tensor::LoopKind::kBlockX); !s) return s.error();
    if (Status s = schedule.Bind((*parts)[1], tensor::LoopKind::kThreadX); !s) return s.error();
  }
  Result<tensor::LoopVar> shared = fuse(reduction);
  if (!shared) return shared.error();
  const std::vector<double> uniform(ThreadChoices().size(),
                                    1.0 / static_cast<double>(ThreadChoices().size()));
  Result<tensor::ValueVar> threads = schedule.SampleCategorical(ThreadChoices(), uniform);
  if (!threads) return threads.error();
  if (Status s = schedule.Bind(*shared, tensor::LoopKind::kThreadReduce, *threads); !s) {
    return s.error();
  }
  return sketch;
}

}  // namespace

Status ShareReduction(GpuSketch& sketch, const std::string& block) {
  Result<GpuSketch> shared = Share(sketch, block);
  if (!shared) return shared.error();
  sketch = *std::move(shared);
  return Ok();
}

}  // namespace bayloom::sketch
