// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pretraining.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/pretrain/pool_measurement.h"

namespace bayloom::pretrain {

Pretraining::Pretraining(record::Store& store, record::ProgramPool& pool,
                         const target::Target& target, tuning::ProgramEvaluator& evaluator,
                         PretrainingOptions options)
    : store_(store),
      pool_(pool),
      target_(target),
      evaluator_(evaluator),
      options_(std::move(options)) {}

bool Pretraining::IsOver() const {
  const trial::Budget& budget = options_.budget;
  return budget.stop() || budget.clock() - start_ >= budget.seconds;
}

int64_t Pretraining::ProgramsToMeasure(std::span<const record::TaskId> tasks) {
  if (options_.budget.trials != trial::Budget::kUnlimited) return options_.budget.trials;
  int64_t programs = 0;
  for (const record::TaskId task : tasks) programs += pool_.Count(task);
  return std::max<int64_t>(1, std::llround(options_.share * static_cast<double>(programs)));
}

trial::StopReason Pretraining::Run(const PretrainingObserver& observer) {
  start_ = options_.budget.clock();
  if (options_.pool) {
    FillPool(
        store_, pool_, target_, *options_.pool, [this] { return IsOver(); }, observer.on_task);
  }
  if (!options_.budget.stop()) Learn(observer);
  if (options_.budget.stop()) return trial::StopReason::kStopped;
  const bool timed_out = IsOver();
  learning_->Finish();
  if (learning_->measured() >= status_.budget) return trial::StopReason::kTrials;
  return timed_out ? trial::StopReason::kTime : trial::StopReason::kExhausted;
}

void Pretraining::Learn(const PretrainingObserver& observer) {
  const std::vector<record::TaskId> tasks = GroupedTasks(pool_);
  if (tasks.empty()) throw InputError(pool_.path() + " has no pool of programs");
  ActiveLearningOptions options = options_.learning;
  options.budget = ProgramsToMeasure(tasks);
  options.stop = [this] { return IsOver(); };
  status_ = {.budget = options.budget, .round = 1, .rounds = options.rounds};
  learning_ = std::make_unique<ActiveLearning>(pool_, std::move(options));
  for (const record::TaskId task : tasks) {
    std::vector<int64_t> open(pool_.Count(task));
    std::iota(open.begin(), open.end(), int64_t{0});
    learning_->AddTask(task, std::move(open),
                       LabelsOf(MeasuredPrograms(store_, pool_, task, target_)));
  }
  status_.measured = learning_->measured();
  const auto notify = [&](const std::function<void(const PretrainingStatus&)>& listener) {
    status_.seconds = options_.budget.clock() - start_;
    if (listener) listener(status_);
  };
  run::RunObserver trials;
  trials.on_trial = [&](const run::RunStatus&, const trial::Outcome&) {
    ++status_.measured;
    notify(observer.on_trial);
  };
  PoolMeasurement measurement(store_, pool_, target_, evaluator_, "pretrain",
                              [this] { return IsOver(); });
  learning_->Run(
      [&](record::TaskId task, std::span<const int64_t> places) {
        return LabelsOf(measurement.Measure(task, places, trials));
      },
      [&](const ActiveLearning::Round& round) {
        status_.round = round.number;
        notify(observer.on_round);
        status_.round = std::min(round.number + 1, status_.rounds);
      });
  if (!options_.budget.stop()) measurement.Finish();
}

}  // namespace bayloom::pretrain
