// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/programs_by_size.h"
#include "bayloom/tuning/user_store.h"

namespace bayloom::tuning {

/// Programs of a task that are there before its first trial: a tuning tries them first.
struct FirstPrograms {
  /// What the task has without any trial and without records: the baseline of every gain.
  std::optional<sketch::Candidate> zero_trial;
  /// ... and beside it for small lengths, where axes are open.
  std::vector<SmallCandidate> small = {};
  /// What is known from earlier tunings, then what similar workloads lend. All are distinct.
  std::vector<sketch::Candidate> others = {};
};

/// The proposer of the trials of zero-trial programs, in records.
inline constexpr const char* kZeroTrialProposer = "zero-trial";

/// Of a task of a network of so many tasks: the program that the time estimate chooses
/// (FastestByEstimate, with ZeroTrialOptions::For), and what the user's earlier tunings know.
/// `store` may be null.
FirstPrograms FirstProgramsOf(const sketch::SpaceGenerator& space, int tasks, UserStore* store,
                              base::ThreadPool& pool);

}  // namespace bayloom::tuning
