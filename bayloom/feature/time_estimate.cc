// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/time_estimate.h"

#include <cmath>
#include <set>
#include <vector>

#include "bayloom/feature/cache_lines.h"
#include "bayloom/feature/call_time.h"
#include "bayloom/feature/gpu_estimate.h"
#include "bayloom/feature/op_counts.h"

namespace bayloom::feature {
namespace {

/// Vector operations of one execution of the block; what is cheap is hidden behind one.
double OperationsOf(const tensor::Block& block, const target::MachineModel& machine,
                    const EstimateWeights& weights) {
  const OpCounts counts = CountOps(block);
  const double operation = weights.operation * machine.multiply_add.alone;
  return 1 + machine.transcendental / operation * counts[static_cast<size_t>(OpClass::kFloatMath)] +
         machine.division / operation * counts[static_cast<size_t>(OpClass::kFloatDivMod)];
}

double EstimateBlock(const tensor::Program& program, tensor::BlockId block,
                     const std::vector<tensor::LoopId>& loops, const target::MachineModel& machine,
                     const EstimateWeights& weights) {
  if (program.blocks[block].kind == tensor::BlockKind::kCall) {
    return CallSeconds(program.blocks[block], machine);
  }
  double iterations = 1, lanes = 1, at_once = 1, jobs = 1;
  for (tensor::LoopId id : loops) {
    const auto extent = static_cast<double>(program.ExtentOf(id));
    iterations *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kVectorized) lanes *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kTensorized) at_once *= extent;
    if (program.loops[id].kind == tensor::LoopKind::kParallel) jobs *= extent;
  }
  const double width = machine.lanes();
  const double busy = jobs / std::ceil(jobs / machine.threads);
  const double operations = OperationsOf(program.blocks[block], machine, weights) * iterations /
                            (lanes * at_once) * std::ceil(lanes / width);
  const double penalty = lanes > 4 * width ? weights.long_vector : 0;
  const double seconds =
      weights.operation * machine.multiply_add.PerThread(busy) * (1 + penalty) * operations +
      LineSeconds(program, program.blocks[block], WholeLoops(program, loops),
                  CachesOf(machine, weights, busy),
                  /*places=*/nullptr);
  return seconds / busy + (jobs > 1 ? weights.job * machine.job * jobs : 0);
}

}  // namespace

double EstimateTime(const tensor::Program& program, const target::MachineModel& machine,
                    const EstimateWeights& weights) {
  double seconds = 0;
  std::set<tensor::LoopId> counted;
  for (tensor::BlockId block : program.BlocksInOrder()) {
    const std::vector<tensor::LoopId> loops = program.LoopsAround(tensor::NodeRef::Block(block));
    seconds += EstimateBlock(program, block, loops, machine, weights);
    seconds += weights.fork_join * ForkJoinSeconds(program, loops, machine, counted);
  }
  return seconds;
}

double EstimateTime(const tensor::Program& program, const target::Target& target) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    return EstimateGpuTime(program, target::GpuMachineOf(target));
  }
  return EstimateTime(program, target::MachineOf(target));
}

}  // namespace bayloom::feature
