// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/cost/cost_model.h"
#include "bayloom/record/store.h"
#include "bayloom/run/scheduled_run.h"
#include "bayloom/tuning/learner.h"
#include "bayloom/tuning/program_evaluator.h"
#include "bayloom/tuning/session_log.h"
#include "bayloom/tuning/tuning_task.h"

namespace bayloom::tuning {

struct SessionOptions {
  record::RunKind kind = record::RunKind::kTune;  ///< for the record
  std::string model;                              ///< what is tuned, for the record
  std::string description = "{}";                 ///< the caller's options as JSON, for the record
  std::string strategy = "bayes";                 ///< see Strategies
  /// What programs are searched for by; the latency first. The strategy "bayes" looks at all.
  std::vector<ProgramObjective> objectives = {ProgramObjective::kLatency};
  sketch::DerivationChoice derivations = {};  ///< that make design spaces
  /// Tasks that may take the place of others, by positions in the specs.
  std::vector<scheduling::TaskAlternative> alternatives = {};
  /// The budget is that of the whole session, trials and seconds before a resumption included; the
  /// seed is that of all choices, and a resumed session keeps the one it began with. Unless it says
  /// otherwise: 1,000 trials, and slots of an eighth of a task's equal share of the
  /// trials, within 16 and MetaSchedule's 64, but so that each task can have two turns.
  run::RunOptions run = {};
  int64_t max_trials_per_task = trial::Budget::kUnlimited;
  int threads = 0;  ///< for searching; 0: one per hardware thread
  /// Learn from the trials that earlier sessions made of the same tasks on the same target, and
  /// do not repeat them.
  bool use_earlier_sessions = true;
  /// Go on with this session instead of beginning a new one.
  std::optional<record::RunId> resume;
  strategy::EvolutionaryOptions evolutionary;
  strategy::BayesOptions bayes;
  /// Programs of a task to try before those of the strategy, where they were not tried yet.
  std::function<FirstPrograms(const sketch::SpaceGenerator&)> first = {};
  sketch::ProgramCheck check;  ///< what programs must fulfil besides
  /// false: design spaces of GPUs know nothing of its limits (see sketch::GpuSpaces).
  bool limits_are_known = true;
};

/// Where a session stands.
struct SessionStatus : run::RunStatus {
  record::RunId session = 0;
  run::PhaseTimes phases;                   ///< of this run only
  std::optional<cost::BatchMetrics> model;  ///< how well the last slot was predicted
  /// Sum over tasks of weight * best seconds, or of what the program without any trial is estimated
  /// to take (`estimated_tasks`); infinity where a task has neither. Where tasks may take the place
  /// of others, weights are those of the division that takes less.
  double total_seconds = 0;
  int estimated_tasks = 0;
};

/// What is told of a session's progress. Called from the thread that runs it.
struct SessionObserver {
  std::function<void(const SessionStatus&, const trial::Outcome&)> on_trial;
  std::function<void(const SessionStatus&)> on_slot;
};

/// Tunes a set of tasks.
///
/// A ScheduledRun whose tasks propose programs by a strategy and learn at the end of each slot.
/// All knowledge is rebuilt from the store's trials, so a session that was killed at any moment
/// goes on where it was: it loses no recorded trial and repeats none.
///
///     Session session(target, std::move(specs), store, &cost_model, evaluator, options);
///     session.Run({.on_slot = PrintStatus});
///     for (const auto& task : session.tasks()) Use(task->best());
class Session {
 public:
  /// Makes the design spaces and takes up what the store knows. `store`, `cost_model` and
  /// `evaluator` must outlive the session. Without a cost model all scores are equal, and no
  /// features are extracted. Throws InputError if an option or the session to resume is unusable.
  Session(const target::Target& target, std::vector<TaskSpec> specs, record::Store& store,
          cost::CostModel* cost_model, ProgramEvaluator& evaluator, SessionOptions options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs until the budget is spent or all tasks are finished.
  trial::StopReason Run(const SessionObserver& observer = {});

  record::RunId id() const { return log_->session().id; }
  std::span<const std::unique_ptr<TuningTask>> tasks() const { return tasks_; }
  /// As SessionOptions::alternatives, by positions in tasks().
  std::span<const scheduling::TaskAlternative> alternatives() const {
    return options_.alternatives;
  }
  const std::vector<ProgramObjective>& objectives() const { return options_.objectives; }
  SessionStatus Status() const;
  /// What another minute is expected to gain, as a share of total_seconds; nullopt if that cannot
  /// be said yet.
  std::optional<double> GainPerMinute() { return run_->GainPerMinute(); }
  /// What tuning has brought, as it was measured after the last trial.
  const std::optional<GainInTurns>& gain() const { return log_->gain(); }
  void SetGain(const GainInTurns& gain) { log_->SetGain(gain); }
  /// Why trials cannot be carried out, after an end by StopReason::kLost.
  const std::string& lost() const { return run_->lost(); }

 private:
  void AddTask(record::TaskId id, const TaskSpec& spec, const target::Target& target);
  /// The objectives as the strategy of a task sees them.
  std::vector<strategy::Objective> ObjectivesOf(uint64_t task, double calls);
  void Restore();
  std::vector<TuningTrial> Replay(const std::vector<record::StoredTrial>& trials);
  void RestoreSlots(const std::vector<record::StoredTrial>& stored);
  void EndSlot(const TuningTask& task, int64_t trials,
               const std::optional<cost::BatchMetrics>& metrics);
  int TaskIndex(record::TaskId id) const;
  SessionStatus Extend(const run::RunStatus& status) const;

  SessionOptions options_;
  run::PhaseClock clock_;
  base::ThreadPool pool_;
  Learner learner_;
  ProgramEvaluator& evaluator_;
  double build_seconds_ = 0;  ///< of the evaluator, when the last slot ended
  std::optional<SessionLog> log_;
  std::vector<std::unique_ptr<TuningTask>> tasks_;
  std::optional<run::ScheduledRun<ProgramTrial>> run_;
  std::optional<cost::BatchMetrics> last_metrics_;
  run::PhaseTimes earlier_phases_;  ///< before a resumption
};

}  // namespace bayloom::tuning
