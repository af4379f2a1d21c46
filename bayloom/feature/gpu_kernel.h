// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <set>
#include <vector>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What the loops around a block mean on a GPU.
struct GpuBlockNest {
  tensor::BlockId block = -1;
  std::vector<tensor::Access> accesses;
  std::vector<tensor::LoopId> loops;  ///< around it, outermost first
  tensor::LoopId dealt = -1;    ///< kCooperative, kGridThread: its iterations go to all threads
  tensor::LoopId reduced = -1;  ///< kThreadReduce
  std::vector<tensor::LoopId> thread_loops;  ///< kThreadX to kThreadZ, outermost first
  std::vector<tensor::LoopId> serial;        ///< of one thread, unrolled or not, outermost first
  int64_t active_threads = 1;                ///< of a block of threads, that work on it
  int64_t dealt_steps = 1;                   ///< iterations of `dealt` or `reduced` of a thread
  int64_t stages = 1;  ///< of the ring that it fills ahead of its use (tensor/async_copy.h)
};

/// A nest at the root of a program for GPUs: what is launched at a time. The same as code
/// generation's plan of it (plan/gpu/gpu_plan.h) as far as the time depends on it.
struct GpuKernel {
  tensor::NodeRef root;
  std::vector<tensor::LoopId> block_loops;  ///< outermost first
  tensor::LoopId grid = -1;                 ///< the loop dealt to blocks and threads, if it is one
  int64_t blocks = 1;
  int64_t threads = 1;              ///< of a block
  int64_t shared_bytes = 0;         ///< all stages of rings, padded rows of matrices
  std::vector<GpuBlockNest> nests;  ///< in order
};

/// Where a buffer of a program for GPUs is.
enum class GpuSpace : uint8_t { kGlobal, kShared, kRegisters };

/// A program for GPUs, taken apart.
struct GpuProgramShape {
  std::vector<GpuKernel> kernels;
  std::vector<GpuSpace> spaces;                                ///< by BufferId
  std::map<tensor::BufferId, tensor::Allocation> allocations;  ///< of intermediates
  std::set<tensor::LoopId> unrolled;  ///< loops of one thread that become straight code
};

GpuProgramShape ShapeOf(const tensor::Program& program);

/// Threads that share a kThreadReduce loop.
int64_t ReducingThreads(const tensor::Program& program, tensor::LoopId loop);

}  // namespace bayloom::feature
