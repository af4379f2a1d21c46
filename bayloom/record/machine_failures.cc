// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/machine_failures.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "bayloom/record/database.h"

namespace bayloom::record {
namespace {

/// What reasons of the machine's troubles hold.
constexpr std::array<std::string_view, 4> kPhrases = {"Too many open files",
                                                      "cannot start a process", "no shared memory",
                                                      "was killed by the system"};

bool IsOfTheMachine(const trial::Outcome& outcome) {
  return !outcome.ok() && std::ranges::any_of(kPhrases, [&](std::string_view phrase) {
    return outcome.reason.find(phrase) != std::string::npos;
  });
}

}  // namespace

std::vector<MachineFailure> FindMachineFailures(Store& store) {
  std::vector<MachineFailure> failures;
  for (const RunRecord& run : store.Runs()) {
    std::map<std::string, int64_t> counts;
    for (const StoredTrial& trial : store.TrialsOfRun(run.id)) {
      if (IsOfTheMachine(trial.outcome)) ++counts[trial.outcome.reason];
    }
    for (const auto& [reason, trials] : counts) failures.push_back({run.id, reason, trials});
  }
  return failures;
}

/// Takes trials out of a store; see RemoveMachineFailures.
class TrialRemover {
 public:
  TrialRemover(Store& store, const StateEdit& edit) : store_(store), edit_(edit) {}

  int64_t RemoveAll() {
    const std::lock_guard lock(store_.mutex_);
    Transaction transaction(store_.database_);
    int64_t removed = 0;
    for (const RunRecord& run : store_.Runs()) removed += RemoveOf(run);
    transaction.Commit();
    return removed;
  }

 private:
  int64_t RemoveOf(const RunRecord& run) {
    std::vector<int64_t> removed;
    for (const StoredTrial& trial : store_.TrialsOfRun(run.id)) {
      const auto place = trial.ordinal - std::ssize(removed);
      if (IsOfTheMachine(trial.outcome)) {
        store_.database_.Prepared("DELETE FROM trials WHERE run = ? AND ordinal = ?")
            .Run(run.id, trial.ordinal);
        removed.push_back(trial.ordinal);
      } else if (place != trial.ordinal) {
        store_.database_.Prepared("UPDATE trials SET ordinal = ? WHERE run = ? AND ordinal = ?")
            .Run(place, run.id, trial.ordinal);
      }
    }
    if (!removed.empty()) {
      store_.database_.Prepared("UPDATE runs SET state = ?, finished = 0 WHERE id = ?")
          .Run(edit_(run, removed), run.id);
    }
    return std::ssize(removed);
  }

  Store& store_;
  const StateEdit& edit_;
};

int64_t RemoveMachineFailures(Store& store, const StateEdit& edit) {
  return TrialRemover(store, edit).RemoveAll();
}

}  // namespace bayloom::record
