// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/keep_programs.h"

#include <optional>
#include <utility>
#include <vector>

#include "bayloom/tuning/earlier_trials.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {

void KeepPrograms(const Session& session, const std::string& name, record::Store& records,
                  UserStore& store, base::ThreadPool& pool) {
  if (!store.is_open()) return;
  const int kept = EarlierTrialsOptions().samples_per_task;
  // Other commands have not asked for what is less exact.
  const sketch::DerivationChoice usual;
  std::vector<UserStore::Known> known;
  for (const auto& task : session.tasks()) {
    const sketch::SpaceGenerator& space = task->space();
    std::optional<MeasuredCandidate> best = RestoreBest(records, space, &usual);
    if (best) known.push_back({space.workload(), *std::move(best)});
  }
  // The programs first: where the disk is full, they are worth more than what models learn from.
  if (!known.empty()) store.Add(name, session.tasks().front()->space().target(), known);
  for (const auto& task : session.tasks()) {
    if (!store.is_open()) return;
    const sketch::SpaceGenerator& space = task->space();
    store.AddMeasured(space.target(), space.workload(),
                      MeasuredSamples(records, space, kept, pool));
  }
}

}  // namespace bayloom::tuning
