#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/cost/cost_model.h"
#include "bayloom/record/store.h"
#include "bayloom/scheduling/task_progress.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "bayloom/tuning/evaluator.h"
#include "bayloom/tuning/journal.h"
#include "bayloom/tuning/learner.h"
#include "bayloom/tuning/phase_times.h"
#include "bayloom/tuning/task.h"

namespace bayloom {

struct SessionOptions {
  std::string model;                   ///< what is tuned, for the record
  std::string description = "{}";      ///< the caller's options as JSON, for the record
  std::string strategy = "bayes";      ///< see StrategyNames
  std::string scheduler = "gradient";  ///< see TaskSchedulerNames
  int64_t max_trials = 1000;           ///< in all, those before a resumption included
  int64_t max_trials_per_task = std::numeric_limits<int64_t>::max();
  /// Budget of wall-clock time, that before a resumption included. Looked at between trials.
  double max_seconds = std::numeric_limits<double>::infinity();
  /// Trials a task gets at one turn. 0: an eighth of its equal share of the trials, within 16
  /// and MetaSchedule's 64, but so that each task can have two turns.
  int trials_per_slot = 0;
  /// Seed of all choices; a resumed session keeps the one it began with.
  uint64_t seed = 0;
  int threads = 0;  ///< for searching; 0: one per hardware thread
  /// Learn from the trials that earlier sessions made of the same tasks on the same target, and
  /// do not repeat them.
  bool use_earlier_sessions = true;
  /// Go on with this session instead of beginning a new one.
  std::optional<SessionId> resume;
  EvolutionaryOptions evolutionary;
  BayesOptions bayes;
  ThesisOptions thesis;
  ProgramCheck check;                                ///< what programs must fulfil besides
  std::function<bool()> stop = StopRequested;        ///< asked between trials
  std::function<double()> clock = MonotonicSeconds;  ///< seconds
};

/// Where a session stands.
struct SessionStatus {
  SessionId session = 0;
  int task = -1;  ///< index of the task whose turn it is or was
  std::span<const TaskProgress> tasks;
  int64_t trials = 0;  ///< of this session
  int64_t feasible_trials = 0;
  int64_t max_trials = 0;
  double seconds = 0;  ///< spent, before a resumption included
  double max_seconds = 0;
  PhaseTimes phases;                  ///< of this run only
  std::optional<BatchMetrics> model;  ///< how well the last slot was predicted
  /// Sum over tasks of weight * best seconds; infinity until each has a feasible program.
  double total_seconds = 0;
};

/// What wants to be told of a session's progress. Called from the thread that runs it.
struct SessionObserver {
  std::function<void(const SessionStatus&, const Outcome&)> on_trial;
  std::function<void(const SessionStatus&)> on_slot;
};

enum class SessionEnd : uint8_t {
  kTrials,     ///< the trials are used up
  kTime,       ///< the time is used up
  kExhausted,  ///< no task wants any more trials
  kStopped,    ///< it was asked to stop; it can be resumed
};

/// Tunes a set of tasks.
///
/// The loop: the scheduler picks the task for the next slot, the task's strategy proposes a batch
/// of candidates, the evaluator tries them, the store records every outcome as it comes, and only
/// then the cost model and the strategy learn from it. All knowledge is rebuilt from the store's
/// trials, so a session that was killed at any moment goes on where it was: it loses no recorded
/// trial and repeats none.
///
///     Session session(target, std::move(specs), store, &cost_model, evaluator, options);
///     session.Run({.on_slot = PrintStatus});
///     for (const TuningTask& task : session.tasks()) Use(task.best);
class Session {
 public:
  /// Makes the design spaces and takes up what the store knows. `store`, `cost_model` and
  /// `evaluator` must outlive the session. Without a cost model all scores are equal, and no
  /// features are extracted. Throws InputError if an option or the session to resume is unusable.
  Session(const Target& target, std::vector<TaskSpec> specs, Store& store, CostModel* cost_model,
          Evaluator& evaluator, SessionOptions options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs until a budget is used up, all tasks are finished, or a stop is requested.
  SessionEnd Run(const SessionObserver& observer = {});

  SessionId id() const { return journal_->session().id; }
  std::span<const TuningTask> tasks() const { return tasks_; }
  SessionStatus Status() const;

 private:
  /// A trial as it is learnt from.
  struct Experience {
    int task = -1;
    Candidate candidate;
    Outcome outcome;
    bool is_usable = false;  ///< else only its program's hash is known
  };

  void AddTask(TaskId id, TaskSpec spec, const Target& target);
  void TakeUpTrials();
  std::vector<Experience> Recall(const std::vector<Trial>& trials);

  void RunSlot(int task, const SessionObserver& observer);
  std::vector<Experience> Try(int task, std::span<const Candidate> candidates,
                              const SessionObserver& observer);
  SessionEnd Finish(SessionEnd end);
  void CountTrial(const Experience& trial);
  void KeepIfBest(const Experience& trial);
  std::vector<Lesson> Tell(std::span<const Experience> trials);

  bool OutOfTime() const;
  int64_t TrialsLeft(int task) const;
  int TaskIndex(TaskId id) const;
  double Seconds() const;

  SessionOptions options_;
  PhaseClock clock_;
  double started_;
  ThreadPool pool_;
  Learner learner_;
  Evaluator& evaluator_;
  std::optional<Journal> journal_;
  std::vector<TuningTask> tasks_;
  std::vector<TaskProgress> progress_;  ///< parallel to tasks_
  std::unique_ptr<TaskScheduler> scheduler_;
  int current_task_ = -1;
  int64_t trials_ = 0;
  int64_t feasible_trials_ = 0;
  std::optional<BatchMetrics> last_metrics_;
  double earlier_seconds_ = 0;  ///< before a resumption
  PhaseTimes earlier_phases_;
};

}  // namespace bayloom
