// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/sketch/design_space.h"

namespace bayloom::strategy {

/// Changes one decision of a candidate's trace, leaving every other one as it is: a step to a
/// neighbouring program of the same design space. Immutable, safe to use from several threads.
class Mutator {
 public:
  virtual ~Mutator() = default;
  virtual std::string name() const = 0;
  /// `parent`'s trace, complete, with one decision replaced by another legal one; nullopt when
  /// the trace offers nothing to change. The result still has to be replayed: decisions after
  /// the changed one may have to be repaired, and the program may be refused.
  virtual std::optional<tensor::Trace> Mutate(const sketch::Candidate& parent,
                                              base::RandomStream& random) const = 0;
};

/// Moves a divisor from one factor of a perfect tile to another: tile, two places and divisor
/// uniformly drawn from those that respect the bound on the innermost factor.
std::unique_ptr<Mutator> MakeTileMutator();
/// Another choice of a categorical decision that becomes an annotation called `key`, or, with
/// `key` empty, of any categorical decision.
std::unique_ptr<Mutator> MakeCategoricalMutator(std::string key);
/// Another number of parallel jobs.
std::unique_ptr<Mutator> MakeParallelMutator();
/// Another unrolling limit.
std::unique_ptr<Mutator> MakeUnrollMutator();
/// Another place to compute an intermediate at, drawn uniformly from the legal ones. The legal
/// places follow from the decisions before, so the trace is replayed onto `workload` (which must
/// outlive the mutator) up to there.
std::unique_ptr<Mutator> MakeComputeLocationMutator(const tensor::Workload& workload);

/// Another decision of any kind that keeps the limits of the target's spaces (on GPUs). `space`
/// must outlive the mutator.
std::unique_ptr<Mutator> MakeLimitedMutator(const sketch::SpaceGenerator& space);

/// A mutator and how often it is chosen, relative to the others.
struct WeightedMutator {
  std::unique_ptr<Mutator> mutator;
  double weight;
};

/// MetaSchedule's set for CPU targets: tile 0.90, compute location 0.05, unroll 0.03,
/// parallel 0.02.
std::vector<WeightedMutator> CpuMutators(const tensor::Workload& workload);
/// Those for the target of the spaces, which must outlive them.
std::vector<WeightedMutator> MutatorsFor(const sketch::SpaceGenerator& space);

}  // namespace bayloom::strategy
