// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/plan/gpu/gpu_plan.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What the loops around a block mean on a GPU, by the plan of its kernel.
struct GpuBlockNest {
  tensor::BlockId block = -1;
  std::vector<tensor::Access> accesses;
  std::vector<tensor::LoopId> loops;  ///< around it, outermost first
  tensor::LoopId distributed = -1;  ///< kCooperative, kGridThread: its iterations go to all threads
  tensor::LoopId reduced = -1;      ///< kThreadReduce
  std::vector<tensor::LoopId> thread_loops;  ///< kThreadX to kThreadZ, outermost first
  std::vector<tensor::LoopId> serial;        ///< of one thread, unrolled or not, outermost first
  std::vector<tensor::LoopId> straight;      ///< of these, those that become straight code
  int64_t active_threads = 1;                ///< of a block of threads, that work on it
  int64_t distributed_steps = 1;  ///< iterations of `distributed` or `reduced` of a thread
  int64_t stages = 1;  ///< of the ring that it fills ahead of its use (tensor/async_copy.h)

  bool IsStraight(tensor::LoopId loop) const;
};

/// Those of a kernel's blocks, in order.
std::vector<GpuBlockNest> NestsOf(const tensor::Program& program, const plan::GpuPlan& plan,
                                  const plan::KernelPlan& kernel);

}  // namespace bayloom::feature
