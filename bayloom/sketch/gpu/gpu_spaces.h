// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/trace.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::sketch {

/// Sums of a product that a thread keeps in registers, at most.
inline constexpr int64_t kMaxThreadSums = 128;
/// Elements of the box around them, at most: with strides between them more than they are.
inline constexpr int64_t kMaxSumsBox = 14 << 10;

/// The design spaces of a workload on a GPU, and programs drawn from them.
///
/// Products are cut into tiles: of blocks, of threads and of what a thread has in registers, with
/// operands staged in shared memory; those of float16, bfloat16 and tf32 also into the matrices
/// that warps, or groups of warps, multiply by tensor cores, padded where their extents are no
/// multiples; reductions without enough elements to keep threads busy are shared by threads, those
/// of rows together with what is computed of them; everything else is distributed to a grid.
///
/// The limits of the GPU (threads of a block, shared memory, accumulators of a thread) are products
/// and sums of products of tile sizes: known constraints, which decisions keep before a program is
/// made of them. Draws, mutations and crossings keep them by construction.
///
/// Immutable after construction and safe to use from several threads.
class GpuSpaces {
 public:
  /// `limits_are_known`: false for spaces as other tuners have them, whose draws and mutations know
  /// nothing of the limits, so that Replay refuses most of them.
  GpuSpaces(tensor::Workload workload, target::GpuLimits limits, bool limits_are_known = true);
  GpuSpaces(GpuSpaces&&) noexcept;
  ~GpuSpaces();

  const tensor::Workload& workload() const { return workload_; }
  const target::GpuLimits& limits() const { return limits_; }
  /// Undecided traces.
  std::vector<tensor::Trace> spaces() const;

  /// Whether the decisions that a trace of the space has keep the limits; says which they do not.
  Status CheckDecisions(int space, const tensor::Trace& trace) const;

  bool limits_are_known() const { return limits_are_known_; }
  /// A candidate whose decisions are drawn uniformly from those that keep the limits.
  Result<Candidate> Sample(int space, base::RandomStream random) const;
  /// A decided trace with one decision drawn again; it keeps the limits if they are known.
  Result<tensor::Trace> MutateTrace(int space, const tensor::Trace& trace,
                                    base::RandomStream& random) const;
  /// A candidate that differs from a decided trace in one decision.
  Result<Candidate> Mutate(int space, const tensor::Trace& trace, base::RandomStream random) const;
  /// A candidate with decisions of one or the other.
  Result<Candidate> Cross(int space, const tensor::Trace& a, const tensor::Trace& b,
                          base::RandomStream random) const;
  /// A candidate with the decisions the trace has; missing ones are drawn.
  Result<Candidate> Replay(int space, const tensor::Trace& trace, base::RandomStream random) const;

 private:
  struct Space;

  tensor::Workload workload_;
  target::GpuLimits limits_;
  bool limits_are_known_;
  std::vector<Space> spaces_;
};

}  // namespace bayloom::sketch
