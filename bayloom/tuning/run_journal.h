// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/record/run_trials.h"
#include "bayloom/record/store.h"

namespace bayloom::tuning {

/// A run in a store whose trials are results that are not searched for again when it is resumed.
class RunJournal {
 public:
  /// Goes on with the store's last run of the same kind, name, objective and definition if there is
  /// one and `resume` is asked for; else begins one.
  RunJournal(const std::string& database, const record::RunRecord& wanted, bool resume);

  /// Of before the run was resumed.
  const std::vector<record::StoredTrial>& earlier() const { return earlier_; }
  void Add(const trial::TrialRecord& trial) { trials_->Add(trial); }
  void Flush() { trials_->Flush(); }
  /// Notes that nothing is left to be done.
  void Finish() { store_.SetFinished(run_, true); }

 private:
  record::Store store_;
  record::RunId run_ = 0;
  std::unique_ptr<record::RunTrials> trials_;
  std::vector<record::StoredTrial> earlier_;
};

}  // namespace bayloom::tuning
