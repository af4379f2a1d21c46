// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/size_division.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {

/// A program for the smaller values of one of a workload's sizes.
struct SmallCandidate {
  sketch::Candidate candidate;
  int size = 0;       ///< of the workload's sizes
  int64_t up_to = 0;  ///< the largest value that it is for
};

/// Whether both read the workload's constants in one form.
bool ReadAlike(const tensor::Program& a, const tensor::Program& b);
/// Whether a program for small lengths may be used beside the one for the largest: both read the
/// constants in one form, or the second form takes clearly less memory than the first, as plain
/// weights do beside Winograd's.
bool MayBeBeside(const tensor::Program& largest, const tensor::Program& small);

/// Those of all parts but the last.
std::vector<SmallCandidate> SmallOf(const SizeDivision& division,
                                    std::span<const sketch::Candidate> candidates);

/// FastestByEstimate for the largest of the workload's points: the program of a workload with open
/// axes that others are for smaller lengths beside. `derivations`: of the space.
sketch::Candidate FastestForLargest(const sketch::SpaceGenerator& space,
                                    const sketch::DerivationChoice& derivations,
                                    std::span<const sketch::Candidate> adapted,
                                    const ZeroTrialOptions& options, base::ThreadPool& pool);

/// Up to two programs for smaller lengths than `largest` is for, the smallest first, that may be
/// used beside it: those that the estimate likes best, each for a part of the points, and the
/// values of one size up to which each is used, so that the weighted loss against the best program
/// for each point is smallest. A further program has to pay.
std::vector<SmallCandidate> FastestForSmall(const sketch::SpaceGenerator& space,
                                            const sketch::DerivationChoice& derivations,
                                            const sketch::Candidate& largest,
                                            const ZeroTrialOptions& options,
                                            base::ThreadPool& pool);

}  // namespace bayloom::tuning
