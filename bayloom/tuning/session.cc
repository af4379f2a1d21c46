// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::tuning {
namespace {

/// What each task tries before any gets more: the zero-trial program and one that is known or
/// adapted.
constexpr int kMaxOpeningTrials = 2;
/// Trials of a session that nothing else ends.
constexpr int64_t kDefaultTrials = 1000;

/// Trials of a slot by default, as SessionOptions::run says.
int64_t SlotSize(int64_t trials, size_t tasks) {
  const int64_t share = trials / static_cast<int64_t>(tasks);
  const int64_t eighth = std::clamp<int64_t>(share / 8, 16, 64);
  return std::max<int64_t>(1, std::min(eighth, share / 2));
}

record::RunRecord RecordOf(const SessionOptions& options) {
  record::RunRecord record;
  record.kind = options.kind;
  record.name = options.model;
  record.definition = options.description;
  record.objective = "seconds";
  record.seed = options.run.seed;
  return record;
}

/// Several workloads that are the same are one task; alternatives follow the tasks' positions.
std::vector<TaskSpec> Merged(std::vector<TaskSpec> specs,
                             std::vector<scheduling::TaskAlternative>& alternatives) {
  std::vector<TaskSpec> merged;
  std::map<uint64_t, size_t> places;
  std::vector<int> place_of;
  for (TaskSpec& spec : specs) {
    const auto [place, is_new] = places.emplace(spec.workload.StructuralHash(), merged.size());
    place_of.push_back(static_cast<int>(place->second));
    if (is_new) {
      merged.push_back(std::move(spec));
    } else {
      merged[place->second].weight += spec.weight;
    }
  }
  for (scheduling::TaskAlternative& one : alternatives) {
    one.together = place_of[one.together];
    for (int& task : one.apart) task = place_of[task];
  }
  return merged;
}

}  // namespace

Session::Session(const target::Target& target, std::vector<TaskSpec> specs, record::Store& store,
                 cost::CostModel* cost_model, ProgramEvaluator& evaluator, SessionOptions options)
    : options_(std::move(options)),
      clock_(options_.run.budget.clock),
      pool_(options_.threads),
      learner_(cost_model, pool_, clock_, options_.objectives),
      evaluator_(evaluator),
      build_seconds_(evaluator.build_seconds()) {
  if (specs.empty()) throw InputError("nothing to tune: there is no task");
  const record::TargetId target_id = store.AddTarget(target);
  if (options_.resume) {
    log_ = SessionLog::Resume(store, *options_.resume, target_id);
    options_.run.seed = log_->session().seed;
  } else {
    log_ = SessionLog::Begin(store, target_id, RecordOf(options_));
  }
  earlier_phases_ = log_->phases();
  run::RunOptions& run = options_.run;
  run = run::WithDefaults(std::move(run), {.budget = {.trials = kDefaultTrials}});
  if (run.trials_per_slot == 0) run.trials_per_slot = SlotSize(run.budget.trials, specs.size());
  run.earlier_seconds = log_->seconds();
  run.failures_alike = run::kMaxFailuresAlike;
  run.phases = &clock_;
  run_.emplace(run);
  for (const TaskSpec& spec : Merged(std::move(specs), options_.alternatives)) {
    AddTask(store.AddTask(spec.workload), spec, target);
  }
  run_->SetAlternatives(options_.alternatives);
  clock_.In(&run::PhaseTimes::resume, [&] { Restore(); });
}

void Session::AddTask(record::TaskId id, const TaskSpec& spec, const target::Target& target) {
  auto space = std::make_unique<const sketch::SpaceGenerator>(
      spec.workload, target, options_.check, options_.derivations, options_.limits_are_known);
  const uint64_t hash = space->workload().StructuralHash();
  auto strategy = strategy::CreateStrategy(
      options_.strategy,
      {.space = space.get(),
       .pool = &pool_,
       .objectives = ObjectivesOf(hash, spec.weight),
       .exploration_count = [this, hash] { return learner_.ExplorationCount(hash); },
       .scores_are_informed = [this, hash] { return learner_.IsInformed(hash); },
       .seed = base::Hasher().Add(options_.run.seed).Add(hash).Digest(),
       .evolutionary = options_.evolutionary,
       .bayes = options_.bayes});
  scheduling::TaskProgress progress;
  progress.name = spec.name;
  progress.weight = spec.weight;
  progress.work = spec.workload.Flops();
  progress.lower_bound = spec.lower_bound;
  progress.expected_cost = spec.expected_seconds;
  tasks_.push_back(std::make_unique<TuningTask>(
      spec, id, std::move(space), std::move(strategy), learner_, evaluator_, log_->TrialsOf(id),
      [this](const TuningTask& task, int64_t trials,
             const std::optional<cost::BatchMetrics>& metrics) {
        EndSlot(task, trials, metrics);
      }));
  if (options_.first) {
    const auto opening_trials =
        static_cast<int>(std::min<int64_t>(kMaxOpeningTrials, options_.run.trials_per_slot));
    tasks_.back()->TryFirst(options_.first(tasks_.back()->space()), opening_trials);
  }
  if (const auto& zero_trial = tasks_.back()->zero_trial()) {
    progress.zero_trial_cost = feature::EstimateCodeTime(zero_trial->program, target);
    log_->SetEstimate(id, progress.zero_trial_cost);
  }
  run_->AddTask(*tasks_.back(), std::move(progress), options_.max_trials_per_task);
  log_->SetWeight(id, spec.weight);
}

std::vector<strategy::Objective> Session::ObjectivesOf(uint64_t task, double calls) {
  std::vector<strategy::Objective> objectives;
  for (size_t k = 0; k < learner_.objectives().size(); ++k) {
    const ProgramObjective by = learner_.objectives()[k];
    strategy::Objective& objective = objectives.emplace_back(
        strategy::Objective{.scorer = [this, k, task](std::span<const sketch::Candidate* const> c) {
          return learner_.Score(k, task, c);
        }});
    if (by == ProgramObjective::kLatency) continue;
    objective.value = [by, calls](const trial::Outcome& outcome) {
      const std::optional<ProgramCost> cost = CostOf(outcome);
      return cost ? std::optional(cost->ValueFor(calls, by)) : std::nullopt;
    };
  }
  return objectives;
}

int Session::TaskIndex(record::TaskId id) const {
  const auto at = std::ranges::find(tasks_, id, [](const auto& task) { return task->id(); });
  return at == tasks_.end() ? -1 : static_cast<int>(at - tasks_.begin());
}

void Session::Restore() {
  if (options_.use_earlier_sessions) {
    std::vector<TuningTrial> all;
    std::vector<TrainingSample> samples;
    std::vector<std::pair<TuningTask*, size_t>> ends;
    for (const auto& task : tasks_) {
      for (TuningTrial& trial : Replay(log_->EarlierTrials(task->id()))) {
        task->Restore(trial);
        all.push_back(std::move(trial));
      }
      ends.emplace_back(task.get(), all.size());
    }
    size_t next = 0;
    for (const auto& [task, end] : ends) {
      for (; next < end; ++next) {
        if (auto sample = task->Learn(all[next])) samples.push_back(*sample);
      }
    }
    learner_.Remember(samples);
  }
  RestoreSlots(log_->trials());
}

void Session::RestoreSlots(const std::vector<record::StoredTrial>& stored) {
  const std::vector<TuningTrial> own = Replay(stored);
  size_t next = 0;
  for (const Slot& slot : log_->slots()) {
    const int index = TaskIndex(slot.task);
    if (index < 0) {
      throw InputError(
          fmt::format("cannot resume session {}: it tuned other tasks than these", id()));
    }
    std::vector<TrainingSample> samples;
    for (int64_t i = 0; i < slot.trials; ++i, ++next) {
      run_->Restore(index, tasks_[index]->Restore(own[next]), stored[next].elapsed);
      if (auto sample = tasks_[index]->Learn(own[next])) samples.push_back(*sample);
    }
    run_->RestoreSlotEnd(index);
    learner_.Remember(samples);
  }
}

/// Makes the candidates of recorded trials again.
std::vector<TuningTrial> Session::Replay(const std::vector<record::StoredTrial>& trials) {
  for (const record::StoredTrial& trial : trials) {
    if (TaskIndex(trial.task) >= 0) continue;
    throw InputError(
        fmt::format("cannot resume session {}: it tuned other tasks than these", id()));
  }
  std::vector<TuningTrial> replayed(trials.size());
  pool_.ParallelFor(std::ssize(trials), [&](int64_t i) {
    TuningTrial& trial = replayed[i];
    trial.outcome = trials[i].outcome;
    trial.candidate.hash = trials[i].key;
    Result<sketch::Candidate> candidate =
        RestoreCandidate(tasks_[TaskIndex(trials[i].task)]->space(), trials[i]);
    trial.is_usable = candidate.ok();
    if (candidate) trial.candidate = *std::move(candidate);
  });
  return replayed;
}

trial::StopReason Session::Run(const SessionObserver& observer) {
  run::RunObserver listener;
  if (observer.on_trial) {
    listener.on_trial = [&](const run::RunStatus& status, const trial::Outcome& outcome) {
      observer.on_trial(Extend(status), outcome);
    };
  }
  if (observer.on_slot) {
    listener.on_slot = [&](const run::RunStatus& status) { observer.on_slot(Extend(status)); };
  }
  const trial::StopReason reason = run_->Run(listener);
  log_->End(reason);
  return reason;
}

void Session::EndSlot(const TuningTask& task, int64_t trials,
                      const std::optional<cost::BatchMetrics>& metrics) {
  last_metrics_ = metrics;
  const double compiling = evaluator_.build_seconds() - build_seconds_;
  build_seconds_ += compiling;
  clock_.times().measure -= compiling;
  clock_.times().compile += compiling;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    log_->SetWeight(tasks_[i]->id(), run_->Status().tasks[i].weight);
  }
  clock_.In(&run::PhaseTimes::record, [&] {
    log_->EndSlot(task.id(), trials, run_->Status().seconds, earlier_phases_ + clock_.times(),
                  metrics);
  });
}

SessionStatus Session::Status() const { return Extend(run_->Status()); }

SessionStatus Session::Extend(const run::RunStatus& status) const {
  SessionStatus extended;
  static_cast<run::RunStatus&>(extended) = status;
  extended.session = id();
  extended.phases = clock_.times();
  extended.model = last_metrics_;
  extended.total_seconds = scheduling::CostOfTheWhole(status.tasks);
  extended.estimated_tasks = scheduling::CountEstimated(status.tasks);
  return extended;
}

}  // namespace bayloom::tuning
