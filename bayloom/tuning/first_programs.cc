// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/first_programs.h"

#include <algorithm>
#include <utility>

#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {
namespace {

constexpr int kAdapted = 3;

}  // namespace

FirstPrograms FirstProgramsOf(const sketch::SpaceGenerator& space, int tasks, UserStore* store,
                              base::ThreadPool& pool) {
  const ZeroTrialOptions options = ZeroTrialOptions::For(tasks);
  FirstPrograms first;
  if (space.workload().points.empty()) {
    first.zero_trial = FastestByEstimate(space, {}, options, pool);
  } else {
    first.zero_trial = FastestForLargest(space, {}, {}, options, pool);
    first.small = FastestForSmall(space, {}, *first.zero_trial, options, pool);
  }
  if (store == nullptr) return first;
  std::vector<sketch::Candidate> others = store->Adapt(space, kAdapted);
  if (auto known = store->Find(space)) others.insert(others.begin(), std::move(known->candidate));
  for (sketch::Candidate& candidate : others) {
    const auto is_same = [&](const sketch::Candidate& other) {
      return other.hash == candidate.hash;
    };
    if (is_same(*first.zero_trial) || std::ranges::any_of(first.others, is_same)) continue;
    first.others.push_back(std::move(candidate));
  }
  return first;
}

}  // namespace bayloom::tuning
