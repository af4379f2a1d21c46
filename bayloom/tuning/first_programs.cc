// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/first_programs.h"

#include <algorithm>
#include <utility>

#include "bayloom/tuning/estimated_choice.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::tuning {
namespace {

constexpr int kAdapted = 3;

}  // namespace

FirstPrograms FirstProgramsOf(const sketch::SpaceGenerator& space, int tasks, UserStore* store,
                              base::ThreadPool& pool) {
  const ZeroTrialOptions options = ZeroTrialOptions::For(tasks);
  FirstPrograms first;
  const sketch::DerivationChoice derivations;
  EstimatedChoice choice(space, derivations, options, store, pool);
  first.zero_trial = choice.Largest({});
  first.small = choice.Small(*first.zero_trial);
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
