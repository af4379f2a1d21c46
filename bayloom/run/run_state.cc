// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/run/run_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/scheduling/default_scheduler.h"

namespace bayloom::run {
namespace {

/// What schedulers that divide trials beforehand take for a budget without end.
constexpr int64_t kSchedulerHorizon = int64_t{1} << 40;

}  // namespace

RunOptions WithDefaults(RunOptions options, const RunOptions& defaults) {
  const bool is_endless = options.budget.trials == trial::Budget::kUnlimited &&
                          std::isinf(options.budget.seconds) && options.until_gain_per_minute == 0;
  if (is_endless) options.budget.trials = defaults.budget.trials;
  if (options.scheduler.empty()) options.scheduler = defaults.scheduler;
  if (options.trials_per_slot == 0) options.trials_per_slot = defaults.trials_per_slot;
  return options;
}

RunState::RunState(RunOptions options)
    : options_(WithDefaults(std::move(options), {.scheduler = scheduling::kDefaultScheduler})) {
  scheduling::TaskSchedulerOptions scheduling;
  scheduling.seed = options_.seed;
  scheduling.max_trials = std::min(options_.budget.trials, kSchedulerHorizon);
  if (options_.trials_per_slot > 0) {
    scheduling.trials_per_slot = static_cast<int>(options_.trials_per_slot);
  }
  scheduler_ = scheduling::CreateTaskScheduler(options_.scheduler, scheduling);
  forecast_.emplace(scheduling);
}

int RunState::AddTask(scheduling::TaskProgress progress, int64_t max_trials) {
  progress_.push_back(std::move(progress));
  max_trials_.push_back(max_trials);
  opening_trials_.push_back(0);
  is_spent_.push_back(false);
  return static_cast<int>(progress_.size()) - 1;
}

void RunState::SetAlternatives(std::vector<scheduling::TaskAlternative> alternatives) {
  alternatives_ = std::move(alternatives);
  weights_.clear();
  for (const scheduling::TaskProgress& task : progress_) weights_.push_back(task.weight);
  Divide();
}

void RunState::Divide() {
  if (alternatives_.empty()) return;
  scheduling::Divide(progress_, weights_, alternatives_);
}

void RunState::Count(int task, const TrialValue& value) {
  scheduling::TaskProgress& progress = progress_[task];
  ++trials_;
  if (value.feasible) ++feasible_trials_;
  progress.seconds += value.seconds;
  progress.best_after_trial.push_back(std::min(progress.best(), value.cost));
  Divide();
}

void RunState::EndSlot(int task, bool is_restored) {
  progress_[task].slot_ends.push_back(progress_[task].trials());
  Divide();
  if (!is_restored) slots_.push_back(task);
}

void RunState::Finish(int task, trial::StopReason why) {
  is_spent_[task] = true;
  progress_[task].finished = true;
  converged_ = converged_ || why == trial::StopReason::kConverged;
  reached_target_ = reached_target_ || why == trial::StopReason::kTarget;
  gave_up_ = gave_up_ || why == trial::StopReason::kGaveUp;
}

std::optional<trial::StopReason> RunState::Spent() const {
  if (options_.budget.stop()) return trial::StopReason::kStopped;
  if (trials_ >= options_.budget.trials) return trial::StopReason::kTrials;
  if (Seconds() >= options_.budget.seconds) return trial::StopReason::kTime;
  return std::nullopt;
}

std::optional<double> RunState::GainPerMinute() {
  double seconds_of_trials = 0;
  for (const scheduling::TaskProgress& task : progress_) seconds_of_trials += task.seconds;
  if (Seconds() <= 0) return std::nullopt;
  const double share_of_the_time = seconds_of_trials / Seconds();
  return forecast_->ShareWithin(progress_, 60 * share_of_the_time);
}

bool RunState::GainsTooLittle() {
  if (options_.until_gain_per_minute <= 0) return false;
  const std::optional<double> gain = GainPerMinute();
  return gain && *gain < options_.until_gain_per_minute;
}

int64_t RunState::TrialsLeft(int task) const {
  return std::max<int64_t>(
      0, std::min(options_.budget.trials - trials_, max_trials_[task] - progress_[task].trials()));
}

int RunState::NextTask() {
  for (size_t i = 0; i < progress_.size(); ++i) {
    if (TrialsLeft(static_cast<int>(i)) == 0) is_spent_[i] = true;
    const bool is_needed = alternatives_.empty() || progress_[i].importance() > 0;
    progress_[i].finished = is_spent_[i] || !is_needed;
  }
  current_ = NextOpening();
  if (current_ < 0) current_ = scheduler_->Next(progress_);
  return current_;
}

int RunState::NextOpening() const {
  int next = -1;
  double largest = -1;
  for (size_t i = 0; i < progress_.size(); ++i) {
    const scheduling::TaskProgress& task = progress_[i];
    const double cost = task.importance() * task.expected_cost;
    if (opening_trials_[i] == 0 || task.trials() > 0 || task.finished || cost <= largest) continue;
    next = static_cast<int>(i);
    largest = cost;
  }
  return next;
}

int64_t RunState::SlotTrials(int task) const {
  const int64_t left = TrialsLeft(task);
  const bool is_opening = progress_[task].trials() == 0 && opening_trials_[task] > 0;
  const int64_t wanted = is_opening ? opening_trials_[task] : options_.trials_per_slot;
  return wanted > 0 ? std::min(wanted, left) : left;
}

trial::StopReason RunState::Exhaustion() const {
  if (reached_target_) return trial::StopReason::kTarget;
  if (gave_up_) return trial::StopReason::kGaveUp;
  if (converged_) return trial::StopReason::kConverged;
  const bool all_spent =
      std::ranges::all_of(progress_, [&](const scheduling::TaskProgress& progress) {
        return progress.trials() >= max_trials_[&progress - progress_.data()];
      });
  return all_spent && !progress_.empty() ? trial::StopReason::kTrials
                                         : trial::StopReason::kExhausted;
}

RunStatus RunState::Status() const {
  RunStatus status;
  status.task = current_;
  status.tasks = progress_;
  status.trials = trials_;
  status.feasible_trials = feasible_trials_;
  status.max_trials = options_.budget.trials;
  status.seconds = Seconds();
  status.max_seconds = options_.budget.seconds;
  return status;
}

}  // namespace bayloom::run
