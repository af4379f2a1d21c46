// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/record/recorded_run.h"
#include "bayloom/record/store.h"

namespace bayloom::accelerator {

/// A run in a store whose trials are results that are not searched for again when it is resumed.
class RunJournal {
 public:
  /// Goes on with the store's last run of the same kind, name, objective and definition if there is
  /// one and `resume` is asked for; else begins one.
  RunJournal(const std::string& database, const record::RunRecord& wanted, bool resume);

  /// Of before the run was resumed, if none was added since.
  std::vector<record::StoredTrial> Earlier() const { return run_.Earlier(); }
  void Add(const trial::TrialRecord& trial) { trials_->Add(trial); }
  /// Keeps with the run which runs of layers belong to it, and what it came to: JSON of
  /// report/kept_result.h, or nothing while it goes on.
  void KeepResult(const std::vector<std::string>& layer_runs, const std::string& result);
  /// Writes what is held back and notes the end.
  void End(trial::StopReason reason);

 private:
  record::Store store_;
  record::RecordedRun run_;
  std::unique_ptr<record::RunTrials> trials_;
};

}  // namespace bayloom::accelerator
