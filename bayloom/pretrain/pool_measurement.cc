// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pool_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/run/scheduled_run.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/workload_name.h"
#include "bayloom/tuning/restore.h"

namespace bayloom::pretrain {
namespace {

sketch::Candidate MakeAnew(const sketch::SpaceGenerator& space, const record::PoolProgram& program,
                           const std::string& pool) {
  const Result<tensor::Trace> trace =
      tensor::Trace::FromJson(base::ParseJsonOrDiscard(program.trace));
  if (trace) {
    Result<sketch::Candidate> candidate =
        space.Replay(program.space, *trace, base::RandomStream(0));
    if (candidate && candidate->hash == program.hash) return *std::move(candidate);
  }
  throw InputError(fmt::format(
      "cannot use {}: its programs were made by another version of this program or for another "
      "target; make a new pool",
      pool));
}

}  // namespace

std::vector<record::TaskId> GroupedTasks(record::ProgramPool& pool) {
  std::set<record::TaskId> tasks;
  for (const record::PoolGroup& group : pool.Groups()) {
    for (const record::PoolGroup::Member& member : group.members) tasks.insert(member.task);
  }
  return {tasks.begin(), tasks.end()};
}

std::map<int64_t, trial::Outcome> MeasuredPrograms(record::Store& store, record::ProgramPool& pool,
                                                   record::TaskId task,
                                                   const target::Target& target) {
  const std::optional<record::TargetId> target_id = store.FindTarget(target);
  if (!target_id) return {};
  std::unordered_map<uint64_t, trial::Outcome> outcomes;
  for (const record::StoredTrial& trial : store.TrialsOf(task, *target_id)) {
    outcomes.emplace(trial.key, trial.outcome);
  }
  std::map<int64_t, trial::Outcome> measured;
  if (outcomes.empty()) return measured;
  pool.Visit(task, record::ProgramPool::Part::kPrograms,
             [&](int64_t first, std::span<const record::PoolProgram> programs) {
               for (size_t i = 0; i < programs.size(); ++i) {
                 const auto outcome = outcomes.find(programs[i].hash);
                 if (outcome == outcomes.end()) continue;
                 measured.emplace(first + static_cast<int64_t>(i), outcome->second);
               }
             });
  return measured;
}

std::map<int64_t, Label> LabelsOf(const std::map<int64_t, trial::Outcome>& outcomes) {
  std::map<int64_t, Label> labels;
  for (const auto& [place, outcome] : outcomes) {
    labels[place] = outcome.ok() ? Label(outcome.value) : std::nullopt;
  }
  return labels;
}

/// The programs of an order as a task of a run.
class PoolMeasurement::Task final : public run::RunTask<tuning::ProgramTrial> {
 public:
  Task(PoolMeasurement& owner, Order& order)
      : owner_(owner),
        order_(order),
        space_(owner.store_.WorkloadOf(order.task), owner.target_),
        trials_(owner.log_->TrialsOf(order.task)) {}

  std::string name() const { return tensor::NameOf(space_.workload()); }

  std::vector<tuning::ProgramTrial> Propose(int n, const std::function<bool()>&) override {
    const auto all = std::span<const int64_t>(order_.places);
    const std::span<const int64_t> next =
        all.subspan(proposed_, std::min<size_t>(n, all.size() - proposed_));
    proposed_ += next.size();
    std::vector<tuning::ProgramTrial> trials;
    for (const record::PoolProgram& program : owner_.pool_.At(order_.task, next)) {
      trials.push_back({&space_.workload(), MakeAnew(space_, program, owner_.pool_.path())});
      places_.emplace(program.hash, next[trials.size() - 1]);
    }
    return trials;
  }
  trial::Evaluator<tuning::ProgramTrial>& evaluator() override { return owner_.evaluator_; }
  run::TrialValue Tell(tuning::ProgramTrial&& trial, const trial::Outcome& outcome,
                       double) override {
    order_.outcomes.emplace(places_.at(trial.candidate.hash), outcome);
    ++slot_trials_;
    run::TrialValue value;
    value.feasible = outcome.ok();
    if (outcome.ok()) value.cost = outcome.value;
    return value;
  }
  void EndSlot(bool) override {
    const run::PhaseTimes& phases = owner_.clock_.times();
    owner_.log_->EndSlot(order_.task, std::exchange(slot_trials_, 0), phases.Total(), phases,
                         std::nullopt);
  }
  trial::TrialStore* store() override { return trials_.get(); }
  trial::TrialRecord RecordOf(const tuning::ProgramTrial& trial) override {
    trial::TrialRecord record;
    record.candidate = tuning::CandidateText(trial.candidate);
    record.key = trial.candidate.hash;
    record.proposer = "pool";
    return record;
  }

 private:
  PoolMeasurement& owner_;
  Order& order_;
  sketch::SpaceGenerator space_;
  std::unique_ptr<trial::TrialStore> trials_;
  size_t proposed_ = 0;
  std::unordered_map<uint64_t, int64_t> places_;  ///< of what was proposed, by hash
  int64_t slot_trials_ = 0;
};

PoolMeasurement::PoolMeasurement(record::Store& store, record::ProgramPool& pool,
                                 target::Target target, tuning::ProgramEvaluator& evaluator,
                                 std::string purpose, std::function<bool()> stop)
    : store_(store),
      pool_(pool),
      target_(std::move(target)),
      evaluator_(evaluator),
      purpose_(std::move(purpose)),
      stop_(std::move(stop)),
      clock_(base::MonotonicSeconds) {}

void PoolMeasurement::Begin() {
  record::RunRecord record;
  record.kind = record::RunKind::kDataset;
  record.name = purpose_;
  record.definition = "{}";
  record.objective = "seconds";
  log_ = tuning::SessionLog::Begin(store_, store_.AddTarget(target_), std::move(record));
}

std::map<int64_t, trial::Outcome> PoolMeasurement::Measure(record::TaskId task_id,
                                                           std::span<const int64_t> places,
                                                           const run::RunObserver& observer) {
  if (places.empty()) return {};
  if (!log_) Begin();
  Order order = {task_id, {places.begin(), places.end()}, {}};
  run::RunOptions options;
  options.budget.trials = std::ssize(places);
  options.budget.stop = stop_;
  options.phases = &clock_;
  run::ScheduledRun<tuning::ProgramTrial> run(options);
  Task task(*this, order);
  run.AddTask(task, {.name = task.name()}, std::ssize(places));
  const double compiled = evaluator_.build_seconds();
  const trial::StopReason reason = run.Run(observer);
  const double compiling = evaluator_.build_seconds() - compiled;
  clock_.times().measure -= compiling;
  clock_.times().compile += compiling;
  if (reason == trial::StopReason::kLost) throw SystemError(run.lost());
  return std::move(order.outcomes);
}

void PoolMeasurement::Finish() {
  if (log_) log_->Finish();
}

}  // namespace bayloom::pretrain
