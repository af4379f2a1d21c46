// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/internal/gpu/gpu_rules.h"
#include "bayloom/tensor/access.h"

namespace bayloom::sketch {
namespace {

/// The registers that accumulators may take of a thread's.
constexpr int64_t kMaxAccumulators = 64;
constexpr int kWarpThreads = 32;

Result<tensor::LoopVar> FuseLoops(tensor::Schedule& schedule,
                                  const std::vector<tensor::LoopVar>& loops) {
  return loops.size() == 1 ? Result<tensor::LoopVar>(loops[0]) : schedule.Fuse(loops);
}

/// The blocks that bring what the block reads into shared memory: the producer itself if nothing
/// else reads it and it is no reduction (padding), a copy otherwise.
Result<std::vector<tensor::BlockVar>> StageOperands(tensor::Schedule& schedule,
                                                    tensor::BlockVar block) {
  std::vector<tensor::BufferId> reads;
  for (const tensor::Access& access : tensor::AccessesOf(schedule.program(), schedule.Get(block))) {
    const bool again = std::ranges::count(reads, access.buffer) > 0;
    if (!access.is_write && !again) reads.push_back(access.buffer);
  }
  std::vector<tensor::BlockVar> stages;
  for (size_t i = 0; i < reads.size(); ++i) {
    const tensor::Program& program = schedule.program();
    const tensor::BlockId writer = program.WriterOf(reads[i]);
    const bool own = writer >= 0 && IsUntransformed(program, writer) &&
                     program.blocks[writer].kind == tensor::BlockKind::kPlain &&
                     program.buffers[reads[i]].role == tensor::BufferRole::kIntermediate &&
                     program.ReadersOf(reads[i]).size() == 1;
    Result<tensor::BlockVar> stage =
        own ? schedule.GetBlock(program.blocks[writer].name)
            : schedule.CacheRead(block, static_cast<int>(i), tensor::StorageScope::kShared);
    if (!stage) return stage.error();
    if (own) {
      if (Status s = schedule.SetScope(*stage, tensor::StorageScope::kShared); !s) return s.error();
    }
    stages.push_back(*stage);
  }
  return stages;
}

/// What a stage of each operand takes of shared memory.
std::vector<StagedOperand> FootprintsOf(const tensor::Program& program,
                                        const tensor::Block& block) {
  std::vector<StagedOperand> operands;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad) return;
    const tensor::Buffer& buffer = program.buffers[e->index];
    StagedOperand operand;
    operand.bytes = tensor::ByteSize(buffer.dtype);
    for (size_t d = 0; d < e->operands.size(); ++d) {
      StagedOperand::Dimension dimension{buffer.shape[d], {}};
      const auto form = tensor::ToLinear(e->operands[d], static_cast<int>(block.iters.size()));
      for (size_t axis = 0; form && axis < form->coefficients.size(); ++axis) {
        const int64_t stride = std::abs(form->coefficients[axis]);
        if (stride != 0) dimension.terms.push_back({axis, stride});
      }
      operand.dimensions.push_back(std::move(dimension));
    }
    operands.push_back(std::move(operand));
  });
  return operands;
}

TileLimits LimitsOf(const tensor::Program& program, const tensor::Block& block,
                    const target::GpuLimits& gpu, bool stage) {
  TileLimits limits;
  limits.max_threads = gpu.max_threads;
  limits.max_elements = kMaxAccumulators;
  limits.max_shared_bytes = gpu.max_shared_bytes;
  if (stage) limits.operands = FootprintsOf(program, block);
  return limits;
}

/// At least a warp, where there are enough elements and their number has such divisors.
void RequireWarp(TileLimits& limits, size_t steps) {
  limits.min_threads = kWarpThreads;
  TileLimits::Decisions decisions(steps);
  base::RandomStream random(0);
  if (!limits.Draw(decisions, random)) limits.min_threads = 1;
}

Result<GpuSketch> Tile(GpuSketch sketch, const std::string& name, const target::GpuLimits& gpu,
                       bool stage) {
  tensor::Schedule& schedule = sketch.schedule;
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  const tensor::Block before = schedule.program().blocks[schedule.Get(*block)];
  TileLimits limits = LimitsOf(schedule.program(), before, gpu, stage);
  tensor::BlockVar epilogue;
  if (ElementwiseConsumer(schedule.program(), schedule.Get(*block)) >= 0) {
    Result<std::vector<tensor::BlockVar>> consumers = schedule.GetConsumers(*block);
    if (!consumers) return consumers.error();
    epilogue = consumers->front();
  } else {
    Result<tensor::BlockVar> copy = schedule.CacheWrite(*block, tensor::StorageScope::kLocal);
    if (!copy) return copy.error();
    epilogue = *copy;
  }
  std::vector<tensor::BlockVar> stages;
  if (stage) {
    Result<std::vector<tensor::BlockVar>> made = StageOperands(schedule, *block);
    if (!made) return made.error();
    stages = *made;
  }
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  std::vector<tensor::LoopVar> blocks, strides, threads, neighbours, stage_steps, steps;
  for (size_t i = 0; i < before.iters.size(); ++i) {
    TiledAxis axis;
    axis.step = static_cast<int>(schedule.trace().instructions().size());
    axis.extent = before.iters[i].extent;
    axis.spatial = before.iters[i].kind == tensor::IterKind::kSpatial;
    Result<std::vector<tensor::ValueVar>> tile =
        schedule.SamplePerfectTile((*loops)[i], axis.parts(), kMaxInnermostFactor);
    if (!tile) return tile.error();
    Result<std::vector<tensor::LoopVar>> parts = schedule.Split((*loops)[i], *tile);
    if (!parts) return parts.error();
    limits.axes.push_back(axis);
    if (!axis.spatial) {
      stage_steps.push_back((*parts)[0]);
      steps.push_back((*parts)[1]);
      continue;
    }
    blocks.push_back((*parts)[0]);
    strides.push_back((*parts)[1]);
    threads.push_back((*parts)[2]);
    neighbours.push_back((*parts)[3]);
  }
  if (blocks.empty()) return Error{"nothing to deal to threads"};
  std::vector<tensor::LoopVar> order;
  for (const auto* level : {&blocks, &threads, &stage_steps, &steps, &strides, &neighbours}) {
    order.insert(order.end(), level->begin(), level->end());
  }
  if (Status s = schedule.Reorder(order); !s) return s.error();
  Result<tensor::LoopVar> grid = FuseLoops(schedule, blocks);
  if (!grid) return grid.error();
  Result<tensor::LoopVar> team = FuseLoops(schedule, threads);
  if (!team) return team.error();
  if (Status s = schedule.Bind(*grid, tensor::LoopKind::kBlockX); !s) return s.error();
  if (Status s = schedule.Bind(*team, tensor::LoopKind::kThreadX); !s) return s.error();
  if (Status s = schedule.ReverseComputeAt(epilogue, *team); !s) return s.error();
  for (tensor::BlockVar copy : stages) {
    if (Status s = schedule.ComputeAt(copy, stage_steps.back()); !s) return s.error();
    Result<tensor::ValueVar> width = schedule.SampleCategorical({1, 2, 4}, {0.34, 0.33, 0.33});
    if (!width) return width.error();
    if (Status s = schedule.Annotate(copy, kCopyVector, *width); !s) return s.error();
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
