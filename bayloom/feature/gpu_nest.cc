// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/gpu_nest.h"

#include <algorithm>

namespace bayloom::feature {
namespace {

using tensor::LoopId;
using tensor::LoopKind;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Loops that become straight code, and those that are carried out in registers.
std::set<LoopId> StraightLoops(const plan::GpuPlan& plan) {
  std::set<LoopId> loops = plan.unrolled;
  for (const auto& [outermost, vector] : plan.vector_loops) {
    loops.insert(vector.loops.begin(), vector.loops.end());
  }
  return loops;
}

void SortLoops(const tensor::Program& program, const plan::KernelPlan& kernel, GpuBlockNest& nest) {
  for (const LoopId loop : nest.loops) {
    const LoopKind kind = program.loops[loop].kind;
    if (std::ranges::count(kernel.block_loops, loop) > 0) continue;
    if (tensor::IsThreadIndex(kind)) {
      nest.thread_loops.push_back(loop);
    } else if (kind == LoopKind::kCooperative || kind == LoopKind::kGridThread) {
      nest.distributed = loop;
    } else if (kind == LoopKind::kThreadReduce) {
      nest.reduced = loop;
    } else {
      nest.serial.push_back(loop);
    }
  }
}

void Distribute(const tensor::Program& program, const plan::KernelPlan& kernel,
                GpuBlockNest& nest) {
  if (nest.distributed >= 0) {
    const int64_t extent = program.ExtentOf(nest.distributed);
    nest.active_threads = std::min<int64_t>(kernel.threads, extent);
    nest.distributed_steps = kernel.grid >= 0 ? 1 : CeilDivide(extent, kernel.threads);
    return;
  }
  int64_t threads = 1;
  for (const LoopId loop : nest.thread_loops) threads *= program.ExtentOf(loop);
  if (nest.reduced >= 0) {
    const int64_t group = plan::ReducingThreads(program, nest.reduced);
    nest.distributed_steps = CeilDivide(program.ExtentOf(nest.reduced), group);
    threads *= group;
  }
  nest.active_threads = std::min<int64_t>(kernel.threads, threads);
}

}  // namespace

bool GpuBlockNest::IsStraight(LoopId loop) const { return std::ranges::count(straight, loop) > 0; }

std::vector<GpuBlockNest> NestsOf(const tensor::Program& program, const plan::GpuPlan& plan,
                                  const plan::KernelPlan& kernel) {
  const std::set<LoopId> straight = StraightLoops(plan);
  std::vector<GpuBlockNest> nests;
  for (const tensor::BlockId block : kernel.Blocks(program)) {
    GpuBlockNest& nest = nests.emplace_back();
    nest.block = block;
    nest.accesses = tensor::AccessesOf(program, block);
    nest.loops = program.LoopsAround(tensor::NodeRef::Block(block));
    SortLoops(program, kernel, nest);
    Distribute(program, kernel, nest);
    for (const LoopId loop : nest.serial) {
      if (straight.contains(loop)) nest.straight.push_back(loop);
    }
    if (plan.async_copies.contains(block)) {
      nest.stages = plan.pipelines.at(program.loops[nest.distributed].parent.id).stages;
    }
  }
  return nests;
}

}  // namespace bayloom::feature
