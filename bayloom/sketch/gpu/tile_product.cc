// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/gpu/gpu_rules.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/sketch/tile_levels.h"

namespace bayloom::sketch {
namespace {

TileConstraints LimitsOf(const tensor::Program& program, const tensor::Block& block,
                         const target::GpuLimits& gpu, bool stage) {
  TileConstraints limits;
  limits.max_threads = gpu.max_threads;
  limits.max_shared_bytes = gpu.max_shared_bytes;
  if (stage) limits.operands = FootprintsOf(program, block);
  return limits;
}

/// At least a warp, where there are enough elements and their number has such divisors.
void RequireWarp(TileConstraints& limits, size_t steps) {
  limits.min_threads = target::kWarpThreads;
  TileConstraints::Decisions decisions(steps);
  base::RandomStream random(0);
  if (!limits.Draw(decisions, random)) limits.min_threads = 1;
}

Result<GpuSketch> Tile(GpuSketch sketch, const std::string& name, const target::GpuLimits& gpu,
                       bool stage) {
  tensor::Schedule& schedule = sketch.schedule;
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  const tensor::Block before = schedule.program().blocks[schedule.Get(*block)];
  TileConstraints limits = LimitsOf(schedule.program(), before, gpu, stage);
  Result<tensor::BlockVar> epilogue = EpilogueOf(schedule, *block);
  if (!epilogue) return epilogue.error();
  std::vector<tensor::BlockVar> stages;
  if (stage) {
    Result<std::vector<tensor::BlockVar>> made = StageOperands(schedule, *block);
    if (!made) return made.error();
    stages = *made;
  }
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  std::vector<tensor::LoopVar> blocks, strides, threads, neighbours, stage_steps, steps;
  const int parts_of_sum = sketch.PartsOfSum(name);
  for (size_t i = 0; i < before.iters.size(); ++i) {
    TiledAxis axis;
    if (static_cast<int>(i) == parts_of_sum) {
      axis.kind = TiledAxis::Kind::kOverBlocks;
      limits.axes.push_back(axis);
      blocks.push_back((*loops)[i]);
      continue;
    }
    axis.step = static_cast<int>(schedule.trace().instructions().size());
    axis.extent = before.iters[i].extent;
    const bool spatial = before.iters[i].kind == tensor::IterKind::kSpatial;
    axis.kind = spatial ? TiledAxis::Kind::kSpatial : TiledAxis::Kind::kReduction;
    Result<std::vector<tensor::LoopVar>> parts =
        TilePerfectly(schedule, (*loops)[i], axis.parts(), kMaxInnermostFactor);
    if (!parts) return parts.error();
    limits.axes.push_back(axis);
    if (!spatial) {
      stage_steps.push_back((*parts)[0]);
      steps.push_back((*parts)[1]);
      continue;
    }
    blocks.push_back((*parts)[0]);
    strides.push_back((*parts)[1]);
    threads.push_back((*parts)[2]);
    neighbours.push_back((*parts)[3]);
  }
  if (blocks.empty()) return Error{"nothing to distribute over threads"};
  std::vector<tensor::LoopVar> order;
  for (const auto* level : {&blocks, &threads, &stage_steps, &steps, &strides, &neighbours}) {
    order.insert(order.end(), level->begin(), level->end());
  }
  if (Status s = schedule.Reorder(order); !s) return s.error();
  Result<tensor::LoopVar> grid = FuseAll(schedule, blocks);
  if (!grid) return grid.error();
  Result<tensor::LoopVar> team = FuseAll(schedule, threads);
  if (!team) return team.error();
  if (Status s = schedule.Bind(*grid, tensor::LoopKind::kBlockX); !s) return s.error();
  if (Status s = schedule.Bind(*team, tensor::LoopKind::kThreadX); !s) return s.error();
  if (Status s = schedule.ReverseComputeAt(*epilogue, *team); !s) return s.error();
  if (!stages.empty()) {
    Result<StageCount> count = PlaceStages(schedule, stages, stage_steps);
    if (!count) return count.error();
    limits.stages = *std::move(count);
  }
  RequireWarp(limits, schedule.trace().instructions().size());
  sketch.limits.push_back(std::move(limits));
  return sketch;
}

}  // namespace

Status TileProduct(GpuSketch& sketch, const std::string& block, const target::GpuLimits& limits,
                   bool stage) {
  Result<GpuSketch> tiled = Tile(sketch, block, limits, stage);
  if (!tiled) return tiled.error();
  sketch = *std::move(tiled);
  return Ok();
}

}  // namespace bayloom::sketch
