// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/sketch/derivations/derivation_choice.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/program_check.h"
#include "bayloom/tuning/programs_by_size.h"
#include "bayloom/tuning/user_store.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {

/// Programs that the estimate chooses for a task. The user's store remembers them, so that the
/// same build of this program searches and checks them once.
class EstimatedChoice {
 public:
  /// `store` may be null. All but it must outlive this.
  EstimatedChoice(const sketch::SpaceGenerator& space, const sketch::DerivationChoice& derivations,
                  const ZeroTrialOptions& options, UserStore* store, base::ThreadPool& pool);

  /// FastestByEstimate; of a workload with open axes FastestForLargest.
  sketch::Candidate Largest(std::span<const sketch::Candidate> adapted);
  /// FastestForSmall; none for a workload without open axes.
  std::vector<SmallCandidate> Small(const sketch::Candidate& largest);
  /// Whether the program computes what it has to.
  Status Check(ProgramCheck& check, const sketch::Candidate& candidate);

 private:
  /// The candidates that `choose` gives, from the store if it has them under the key.
  std::vector<SmallCandidate> Remembered(
      uint64_t key, const std::function<std::vector<SmallCandidate>()>& choose);

  const sketch::SpaceGenerator& space_;
  const sketch::DerivationChoice& derivations_;
  const ZeroTrialOptions& options_;
  UserStore* const store_;
  base::ThreadPool& pool_;
  uint64_t key_ = 0;  ///< of the task, its target and the options
};

}  // namespace bayloom::tuning
