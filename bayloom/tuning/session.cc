#include "bayloom/tuning/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/tuning/recall.h"

namespace bayloom {
namespace {

/// As SessionOptions::trials_per_slot says.
int SlotSize(const SessionOptions& options, size_t tasks) {
  if (options.trials_per_slot > 0) return options.trials_per_slot;
  const int64_t share = options.max_trials / static_cast<int64_t>(tasks);
  const int64_t eighth = std::clamp<int64_t>(share / 8, 16, 64);
  return static_cast<int>(std::max<int64_t>(1, std::min(eighth, share / 2)));
}

}  // namespace

Session::Session(const Target& target, std::vector<TaskSpec> specs, Store& store,
                 CostModel* cost_model, Evaluator& evaluator, SessionOptions options)
    : options_(std::move(options)),
      clock_(options_.clock),
      started_(clock_.now()),
      pool_(options_.threads),
      learner_(cost_model, pool_, clock_),
      evaluator_(evaluator) {
  if (specs.empty()) throw InputError("nothing to tune: there is no task");
  const TargetId target_id = store.AddTarget(target);
  if (options_.resume) {
    journal_ = Journal::Resume(store, *options_.resume, target_id);
    options_.seed = journal_->session().seed;
  } else {
    journal_ =
        Journal::Begin(store, target_id, options_.model, options_.description, options_.seed);
  }
  earlier_seconds_ = journal_->seconds();
  earlier_phases_ = journal_->phases();
  options_.trials_per_slot = SlotSize(options_, specs.size());
  for (TaskSpec& spec : specs) {
    const TaskId id = store.AddTask(spec.workload);
    if (const int same = TaskIndex(id); same >= 0) {
      tasks_[same].weight += spec.weight;
      progress_[same].weight += spec.weight;
    } else {
      AddTask(id, std::move(spec), target);
    }
  }
  for (const TuningTask& task : tasks_) journal_->SetWeight(task.id, task.weight);
  scheduler_ =
      CreateTaskScheduler(options_.scheduler, {.seed = options_.seed,
                                               .max_trials = options_.max_trials,
                                               .trials_per_slot = options_.trials_per_slot});
  clock_.In(&PhaseTimes::resume, [&] { TakeUpTrials(); });
}

void Session::AddTask(TaskId id, TaskSpec spec, const Target& target) {
  TaskProgress progress;
  progress.name = spec.name;
  progress.weight = spec.weight;
  progress.work = spec.workload.Flops();
  progress.lower_bound = spec.lower_bound;
  progress_.push_back(std::move(progress));

  TuningTask task;
  task.name = std::move(spec.name);
  task.weight = spec.weight;
  task.id = id;
  task.space =
      std::make_unique<const SpaceGenerator>(std::move(spec.workload), target, options_.check);
  task.workload_hash = task.space->workload().StructuralHash();
  task.strategy = CreateStrategy(
      options_.strategy,
      {.space = task.space.get(),
       .pool = &pool_,
       .scorer = [this, hash = task.workload_hash](
                     std::span<const Candidate* const> c) { return learner_.Score(hash, c); },
       .controls_wanted = [this,
                           hash = task.workload_hash] { return learner_.ControlsWanted(hash); },
       .seed = Hasher().Add(options_.seed).Add(task.workload_hash).Digest(),
       .evolutionary = options_.evolutionary,
       .bayes = options_.bayes,
       .thesis = options_.thesis});
  tasks_.push_back(std::move(task));
}

int Session::TaskIndex(TaskId id) const {
  const auto at =
      std::find_if(tasks_.begin(), tasks_.end(), [&](const TuningTask& t) { return t.id == id; });
  return at == tasks_.end() ? -1 : static_cast<int>(at - tasks_.begin());
}

// --- Taking up what the store knows --------------------------------------------------------------

void Session::TakeUpTrials() {
  if (options_.use_earlier_sessions) {
    std::vector<Experience> all;
    for (const TuningTask& task : tasks_) {
      std::vector<Experience> earlier = Recall(journal_->EarlierTrials(task.id));
      for (const Experience& trial : earlier) KeepIfBest(trial);
      std::move(earlier.begin(), earlier.end(), std::back_inserter(all));
    }
    learner_.Remember(Tell(all));
  }
  const std::vector<Experience> own = Recall(journal_->trials());
  std::span<const Experience> rest = own;
  for (const Slot& slot : journal_->slots()) {
    const std::span<const Experience> trials = rest.first(slot.trials);
    for (const Experience& trial : trials) {
      KeepIfBest(trial);
      CountTrial(trial);
    }
    TaskProgress& progress = progress_[trials.front().task];
    progress.slot_ends.push_back(progress.trials());
    learner_.Remember(Tell(trials));
    rest = rest.subspan(slot.trials);
  }
}

/// Replays recorded trials. One that this version of the program would not make any more (its
/// trace is refused or gives another program) is remembered as known, but not learnt from.
std::vector<Session::Experience> Session::Recall(const std::vector<Trial>& trials) {
  std::vector<Experience> recalled(trials.size());
  pool_.ParallelFor(static_cast<int64_t>(trials.size()), [&](int64_t i) {
    const Trial& trial = trials[i];
    Experience& experience = recalled[i];
    experience.task = TaskIndex(trial.task);
    if (experience.task < 0) return;
    experience.outcome = trial.outcome;
    experience.candidate.hash = trial.program_hash;
    Result<Candidate> candidate = RecallCandidate(*tasks_[experience.task].space, trial);
    if (!candidate) return;
    experience.candidate = *std::move(candidate);
    experience.is_usable = true;
  });
  for (const Experience& experience : recalled) {
    if (experience.task >= 0) continue;
    throw InputError(
        fmt::format("cannot resume session {}: it tuned other tasks than these", id()));
  }
  return recalled;
}

void Session::KeepIfBest(const Experience& trial) {
  const Outcome& outcome = trial.outcome;
  if (!trial.is_usable || !outcome.ok() || outcome.cut_short) return;
  std::optional<MeasuredCandidate>& best = tasks_[trial.task].best;
  if (!best || outcome.value < best->outcome.value) best = {trial.candidate, outcome};
}

void Session::CountTrial(const Experience& trial) {
  ++trials_;
  if (trial.outcome.ok()) ++feasible_trials_;
  const std::optional<MeasuredCandidate>& best = tasks_[trial.task].best;
  progress_[trial.task].seconds += trial.outcome.build_seconds + trial.outcome.measure_seconds;
  progress_[trial.task].best_after_trial.push_back(best ? best->outcome.value
                                                        : std::numeric_limits<double>::infinity());
}

/// Tells the strategies of the trials and returns what the cost model is to learn from them.
std::vector<Lesson> Session::Tell(std::span<const Experience> trials) {
  std::vector<Lesson> lessons;
  for (const Experience& trial : trials) {
    const TuningTask& task = tasks_[trial.task];
    if (trial.is_usable) {
      task.strategy->Notify({&trial.candidate, 1}, {&trial.outcome, 1});
      lessons.push_back({task.workload_hash, &trial.candidate, &trial.outcome});
    } else {
      task.strategy->Exclude(trial.candidate.hash);
    }
  }
  return lessons;
}

// --- The loop
// --------------------------------------------------------------------------------------

SessionEnd Session::Run(const SessionObserver& observer) {
  while (true) {
    if (options_.stop()) return SessionEnd::kStopped;
    if (trials_ >= options_.max_trials) return Finish(SessionEnd::kTrials);
    if (OutOfTime()) return Finish(SessionEnd::kTime);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (TrialsLeft(static_cast<int>(i)) == 0) progress_[i].finished = true;
    }
    current_task_ = clock_.In(&PhaseTimes::schedule, [&] { return scheduler_->Next(progress_); });
    if (current_task_ < 0) return Finish(SessionEnd::kExhausted);
    RunSlot(current_task_, observer);
  }
}

void Session::RunSlot(int task, const SessionObserver& observer) {
  TuningTask& turn = tasks_[task];
  const int wanted =
      static_cast<int>(std::min<int64_t>(options_.trials_per_slot, TrialsLeft(task)));
  const std::vector<Candidate> candidates =
      clock_.In(&PhaseTimes::search, [&] { return turn.strategy->GenerateCandidates(wanted); });
  if (static_cast<int>(candidates.size()) < wanted) progress_[task].finished = true;

  const std::vector<Experience> trials = Try(task, candidates, observer);
  if (trials.empty()) return;
  last_metrics_ = learner_.Learn(Tell(trials));
  progress_[task].slot_ends.push_back(progress_[task].trials());
  clock_.In(&PhaseTimes::record, [&] {
    journal_->EndSlot(turn.id, Seconds(), earlier_phases_ + clock_.times(), last_metrics_);
  });
  if (observer.on_slot) observer.on_slot(Status());
}

/// Evaluates candidates as far as budgets and stop requests let it; every outcome is in the store
/// before anything else becomes of it.
std::vector<Session::Experience> Session::Try(int task, std::span<const Candidate> candidates,
                                              const SessionObserver& observer) {
  TuningTask& turn = tasks_[task];
  std::vector<Experience> trials;
  auto report = [&](int index, const Outcome& outcome) {
    clock_.In(&PhaseTimes::record, [&] {
      journal_->Record(turn.id, turn.strategy->name(), candidates[index], outcome);
    });
    trials.push_back({task, candidates[index], outcome, true});
    KeepIfBest(trials.back());
    CountTrial(trials.back());
    if (observer.on_trial) observer.on_trial(Status(), outcome);
  };
  const std::optional<MeasuredCandidate> best = turn.best;  // as it is now
  const EvaluationContext context = {.best = best ? &*best : nullptr,
                                     .stop = [this] { return options_.stop() || OutOfTime(); }};
  const double compiling = clock_.In(&PhaseTimes::measure, [&] {
    return evaluator_.Evaluate(turn.space->workload(), candidates, context, report);
  });
  clock_.times().measure -= compiling;
  clock_.times().compile += compiling;
  return trials;
}

SessionEnd Session::Finish(SessionEnd end) {
  journal_->Finish();
  return end;
}

int64_t Session::TrialsLeft(int task) const {
  return std::max<int64_t>(0, std::min(options_.max_trials - trials_,
                                       options_.max_trials_per_task - progress_[task].trials()));
}

double Session::Seconds() const { return earlier_seconds_ + clock_.now() - started_; }

bool Session::OutOfTime() const { return Seconds() >= options_.max_seconds; }

SessionStatus Session::Status() const {
  SessionStatus status;
  status.session = id();
  status.task = current_task_;
  status.tasks = progress_;
  status.trials = trials_;
  status.feasible_trials = feasible_trials_;
  status.max_trials = options_.max_trials;
  status.seconds = Seconds();
  status.max_seconds = options_.max_seconds;
  status.phases = clock_.times();
  status.model = last_metrics_;
  for (const TuningTask& task : tasks_) {
    status.total_seconds += task.weight * (task.best ? task.best->outcome.value
                                                     : std::numeric_limits<double>::infinity());
  }
  return status;
}

}  // namespace bayloom
