// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom::report {

/// What a run's trials amount to, kept up to date while they come in. Tables (run_summary.h,
/// session_report.h), the report page and JSON say of a run what is here. Programs known from
/// earlier runs do not count.
class RunDigest {
 public:
  /// A trial that was better than all before it; of a run with tasks, than all of its task. None is
  /// a trial of a lower fidelity, whose value is not what is looked for, or one that was cut short.
  struct Improvement {
    record::TaskId task = 0;
    int64_t trial = 0;   ///< ordinal
    int64_t trials = 0;  ///< of the run by then, it included
    double elapsed = 0;  ///< seconds of the run
    double value = 0;
    std::string candidate;
  };
  struct Task {
    double weight = 1;  ///< how often the whole runs it
    int64_t turns = 0;
    int64_t trials = 0;
    double best = kUnknown;  ///< seconds
    int64_t best_trial = -1;
    double estimate = kUnknown;  ///< seconds that its zero-trial program is estimated to take

    /// What it counts in the whole.
    double seconds() const { return IsEstimated() ? estimate : best; }
    bool IsEstimated() const { return best == kUnknown && estimate != kUnknown; }
  };
  /// Trials that a task had one after the other: a slot, or what was cut off behind the last one.
  struct Turn {
    record::TaskId task = 0;
    int64_t trials = 0;
    int64_t all_trials = 0;                     ///< of the run by its end
    double end = 0;                             ///< seconds of the run
    double before = kUnknown, best = kUnknown;  ///< of the task
  };
  /// The whole after a trial.
  struct Point {
    int64_t trials = 0;
    double seconds = 0;  ///< of the run
    double latency = kUnknown;
  };

  explicit RunDigest(record::RunRecord run);

  /// The next trial by ordinal.
  void Add(const record::StoredTrial& trial);
  /// The run's row as it is now; its trials stay.
  void SetRecord(record::RunRecord run);

  const record::RunRecord& run() const { return run_; }
  /// What the trials are where they are problems of their own, none of which is the run's best:
  /// "tiles of fused layers" (accelerator/fused_mapping.h), "divided layers"
  /// (accelerator/multicore_mapping.h), "layers" (accelerator/network_mapping.h, whose layers have
  /// runs of their own); else empty.
  std::string_view parts() const { return parts_; }
  /// The ordinal of the first trial to come.
  int64_t next() const { return next_; }
  int64_t trials() const { return trials_; }
  /// When the last trial ended.
  double seconds() const { return seconds_; }
  /// Trials without a value, by verdict.
  const std::map<std::string, int64_t>& failures() const { return failures_; }
  /// The last one is the best trial.
  const std::vector<Improvement>& improvements() const { return improvements_; }

  // Of a run with tasks (record::HasTasks).

  const tuning::SessionState& state() const { return state_; }
  /// Those that were tried, and those that the run's state knows.
  const std::map<record::TaskId, Task>& tasks() const { return tasks_; }
  const std::vector<Turn>& turns() const { return turns_; }
  /// Sum of weight * Task::seconds(); infinity where a task has neither a program nor an estimate.
  double Latency() const;
  /// Tasks that count by their estimate.
  int64_t EstimatedTasks() const;
  /// After the first trial, each that changed the latency, and the last.
  std::vector<Point> Points() const;

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  double ElapsedOf(const record::StoredTrial& trial) const;
  bool IsBetter(const record::StoredTrial& trial) const;
  /// The turn of the next trial, which is of this task.
  Turn& TurnOf(record::TaskId task);

  record::RunRecord run_;
  tuning::SessionState state_;
  std::string_view parts_;
  std::function<bool(const std::string&)> is_full_;  ///< candidates of the last fidelity
  int64_t next_ = 0;
  int64_t trials_ = 0;
  double begin_ = 0;  ///< when the first trial ended
  double seconds_ = 0;
  std::map<std::string, int64_t> failures_;
  std::vector<Improvement> improvements_;
  std::map<record::TaskId, Task> tasks_;
  std::vector<Turn> turns_;
  size_t slot_ = 0;          ///< of the next trial, in the state's
  int64_t slot_trials_ = 0;  ///< that it has had
};

/// Of all trials that the store has. Throws InputError if it does not have the run.
RunDigest DigestOf(record::Store& store, record::RunId run);

}  // namespace bayloom::report
