// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bayloom/record/run_trials.h"
#include "bayloom/record/store.h"
#include "bayloom/trial/budget.h"

namespace bayloom::record {

/// A run in a store, from its beginning, or from where it is resumed, to its end.
///
///     RecordedRun run(store, wanted, resume ? store.LastRun(wanted.kind, wanted.name) : {});
///     for (const StoredTrial& trial : run.Earlier()) Learn(trial);
///     const auto trials = run.Trials();
///     ...
///     run.End(reason);
class RecordedRun {
 public:
  /// Goes on with `last` if there is one, else begins the run that is wanted. `store` must outlive
  /// it.
  RecordedRun(Store& store, RunRecord wanted, std::optional<RunRecord> last = std::nullopt);

  const RunRecord& record() const { return record_; }
  bool resumed() const { return resumed_; }
  /// The trials of before it was resumed, in their order, if none was added since.
  std::vector<StoredTrial> Earlier() const;
  /// Where its trials of a task, or all, are written; from now on it is not finished.
  std::unique_ptr<RunTrials> Trials(RunTrialsOptions options = {});
  /// Notes that it has finished, unless it can be resumed after an end for this reason.
  void End(trial::StopReason reason);
  void Finish() { store_->SetFinished(record_.id, true); }

 private:
  Store* store_;
  bool resumed_;
  bool is_open_;  ///< the store says that it is not finished
  RunRecord record_;
  std::shared_ptr<RunOrdinals> ordinals_;  ///< shared by its tasks' trials
};

}  // namespace bayloom::record
