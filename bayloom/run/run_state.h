// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/run/phase_times.h"
#include "bayloom/scheduling/learning_curve_forecast.h"
#include "bayloom/scheduling/task_alternative.h"
#include "bayloom/scheduling/task_progress.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "bayloom/trial/budget.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::run {

/// RunOptions::failures_alike of runs whose candidates may fail, but hardly all for one reason.
inline constexpr int64_t kMaxFailuresAlike = 12;

/// How a run spends its budget. A search may have other defaults (WithDefaults) for what is left
/// open: a budget without an end, a scheduler without a name, slots of 0 trials.
struct RunOptions {
  trial::Budget budget = {};
  std::string scheduler = {};  ///< see TaskSchedulers; empty: kDefaultScheduler
  uint64_t seed = 0;           ///< of the scheduler's choices
  /// Trials that a task gets at one turn. 0: all that are left, which only makes sense for a
  /// single task.
  int64_t trials_per_slot = 0;
  /// Ends the run (StopReason::kGain) after a slot when trials for another minute are expected to
  /// gain less than this share of the tasks' weighted costs. 0: never.
  double until_gain_per_minute = 0;

  // Said by who runs it, not by a user.

  /// Seconds that the run spent before it was resumed.
  double earlier_seconds = 0;
  /// Pause before a lost trial is tried again: so long after the first loss, twice after the
  /// second.
  double retry_seconds = 0.5;
  /// Ends a run that was not resumed (StopReason::kLost) when so many trials, its first ones, have
  /// all failed for the same reason (FailureWatch). 0: never.
  int64_t failures_alike = 0;
  /// Gets the run's wall-clock time by what it is spent on; may be null. Must outlive the run.
  PhaseClock* phases = nullptr;
};

/// The options with what they leave open as in `defaults`. The budget's trials are left open where
/// neither seconds nor an expected gain end the run.
RunOptions WithDefaults(RunOptions options, const RunOptions& defaults);

/// What a trial tells the scheduler of its task.
struct TrialValue {
  /// Positive, in a unit that all tasks of the run share, the less the better; infinity for a trial
  /// that is no candidate for the task's best.
  double cost = std::numeric_limits<double>::infinity();
  double seconds = 0;  ///< spent on the trial; 0 if unknown
  bool feasible = false;
};

/// Where a run stands.
struct RunStatus {
  int task = -1;  ///< index of the task whose turn it is or was
  std::span<const scheduling::TaskProgress> tasks;
  int64_t trials = 0;  ///< those before a resumption included
  int64_t feasible_trials = 0;
  int64_t max_trials = trial::Budget::kUnlimited;
  double seconds = 0;  ///< spent, before a resumption included
  double max_seconds = std::numeric_limits<double>::infinity();
};

/// What is told of a run's progress. Called from the thread that runs it.
struct RunObserver {
  std::function<void(const RunStatus&, const trial::Outcome&)> on_trial;
  std::function<void(const RunStatus&)> on_slot;
  /// What a task has to say about how it searches; one line.
  std::function<void(const std::string&)> on_notice = nullptr;
};

/// What a run knows of its tasks' progress and of its budget: all of a ScheduledRun that does not
/// depend on what a candidate is.
class RunState {
 public:
  /// Throws InputError for an unknown scheduler.
  explicit RunState(RunOptions options);

  /// The index of the new task.
  int AddTask(scheduling::TaskProgress progress, int64_t max_trials);
  /// While the task has had no trial, its first slot has so many and comes before those that the
  /// scheduler gives, the task of the largest expected cost first. 0: the scheduler says when the
  /// task begins.
  void SetOpening(int task, int64_t trials) { opening_trials_[task] = trials; }
  /// Choices between the tasks added so far. From now on their weights are those of the choices
  /// that cost least (scheduling::Divide), and a task that no choice may come to need gets nothing.
  void SetAlternatives(std::vector<scheduling::TaskAlternative> alternatives);
  void Count(int task, const TrialValue& value);
  /// At least so many seconds were spent before the run was resumed.
  void RestoreSeconds(double elapsed) {
    options_.earlier_seconds = std::max(options_.earlier_seconds, elapsed);
  }
  /// `is_restored`: the slot was given before the run was resumed.
  void EndSlot(int task, bool is_restored = false);
  /// The task is to try nothing more, because it has reached its target (kTarget), because it does
  /// not improve any more (kConverged), because it found nothing more (kGaveUp) or because there is
  /// nothing more (kExhausted).
  void Finish(int task, trial::StopReason why);

  /// Why the run has to end now; nullopt if it does not.
  std::optional<trial::StopReason> Spent() const;
  /// What another minute is expected to gain, as a share of the tasks' weighted costs
  /// (LearningCurveForecast::ShareWithin). A few milliseconds for each task that had trials since
  /// it was last asked.
  std::optional<double> GainPerMinute();
  /// Whether that is less than was asked for.
  bool GainsTooLittle();
  /// The task of the next slot; -1 if all are finished.
  int NextTask();
  /// Trials that a slot of the task that begins now may have.
  int64_t SlotTrials(int task) const;
  /// Why it ended, if no task is left.
  trial::StopReason Exhaustion() const;

  /// The clock runs from now on, if it did not before.
  void Start() {
    if (!started_) started_ = options_.budget.clock();
  }
  double Seconds() const {
    return options_.earlier_seconds + (started_ ? options_.budget.clock() - *started_ : 0);
  }
  RunStatus Status() const;
  const RunOptions& options() const { return options_; }
  std::span<const scheduling::TaskProgress> tasks() const { return progress_; }
  int64_t trials() const { return trials_; }
  /// The tasks of the slots given since the run was taken up.
  std::span<const int> slots() const { return slots_; }

 private:
  int64_t TrialsLeft(int task) const;
  /// The unfinished task whose opening slot comes next; -1 if none is left.
  int NextOpening() const;
  /// Brings the tasks' weights up to date.
  void Divide();

  RunOptions options_;
  std::optional<double> started_;
  std::vector<scheduling::TaskProgress> progress_;
  std::vector<int64_t> max_trials_;      ///< of each task
  std::vector<int64_t> opening_trials_;  ///< of each task, as SetOpening
  std::vector<bool> is_spent_;           ///< by task: it is to try nothing more, needed or not
  std::vector<double> weights_;  ///< as if nothing were to be chosen; with alternatives only
  std::vector<scheduling::TaskAlternative> alternatives_;
  std::unique_ptr<scheduling::TaskScheduler> scheduler_;
  std::optional<scheduling::LearningCurveForecast> forecast_;
  int current_ = -1;
  int64_t trials_ = 0;
  int64_t feasible_trials_ = 0;
  bool converged_ = false;       ///< a task was finished because it had converged
  bool reached_target_ = false;  ///< a task was finished because it had
  bool gave_up_ = false;         ///< a task was finished because it found nothing more
  std::vector<int> slots_;
};

}  // namespace bayloom::run
