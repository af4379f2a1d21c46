// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {

/// A program for the smaller values of one of a workload's sizes.
struct SmallCandidate {
  sketch::Candidate candidate;
  int size = 0;       ///< of the workload's sizes
  int64_t up_to = 0;  ///< the largest value that it is for
};

/// Programs of a workload with open axes: one for the largest lengths, and up to two for smaller
/// ones, the smallest first. All read constants in one form, so that weights are in memory once.
struct ProgramsBySize {
  sketch::Candidate largest;
  std::vector<SmallCandidate> small;
};

/// Programs that the time estimate likes best (FastestByEstimate), each for a part of the
/// workload's points, and the values of a size from which on one takes over from another, so that
/// the weighted loss against the best program for each point is smallest. A further program has to
/// pay. `derivations`: of the space.
ProgramsBySize FastestBySize(const sketch::SpaceGenerator& space,
                             const sketch::DerivationChoice& derivations,
                             std::span<const sketch::Candidate> adapted,
                             const ZeroTrialOptions& options, base::ThreadPool& pool);

}  // namespace bayloom::tuning
