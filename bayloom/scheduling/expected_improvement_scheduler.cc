// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/improvement_rates.h"
#include "bayloom/scheduling/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

/// Slots for each task after which those come first that have had none.
constexpr int kSlotsBeforeAll = 2;
/// The deviation of the logarithm of the first cost over the expected one, before any is known, and
/// the tasks that it counts as.
constexpr double kPriorSpread = 0.7;
constexpr double kPriorTasks = 2;

/// What multiplies an expected cost to be that of the first configuration, in the mean: the
/// quotient is taken for log-normal, as the tasks that have had trials show it. 1 while none has.
double Correction(std::span<const TaskProgress> tasks) {
  std::vector<double> logs;
  double mean = 0;
  for (const TaskProgress& task : tasks) {
    if (task.expected_cost <= 0 || std::isinf(task.best())) continue;
    const double first = task.best_after_trial[task.TrialsToFeasible() - 1];
    logs.push_back(std::log(first / task.expected_cost));
    mean += logs.back();
  }
  if (logs.empty()) return 1;
  const auto count = static_cast<double>(logs.size());
  mean /= count;
  double squares = kPriorTasks * kPriorSpread * kPriorSpread;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  return std::exp(mean + squares / (kPriorTasks + count) / 2);
}

class ExpectedImprovementScheduler final : public TaskScheduler {
 public:
  explicit ExpectedImprovementScheduler(const TaskSchedulerOptions& options)
      : options_(options), gradient_(MakeGradientScheduler(options)) {}

  std::string name() const override { return "expected-improvement"; }

  int Next(std::span<const TaskProgress> tasks) override {
    const std::vector<int> unfinished = UnfinishedTasks(tasks);
    const auto is_known = [&](int i) { return std::isfinite(tasks[i].best()); };
    if (std::ranges::all_of(unfinished, is_known)) return gradient_->Next(tasks);
    const ImprovementRates rates(tasks);
    const std::vector<double> costs = WeightedCosts(tasks);
    int chosen = -1;
    double highest = 0;
    for (const int i : Choices(tasks, unfinished)) {
      const double gain =
          costs[i] * rates.ShareOfCost(static_cast<size_t>(i), options_.trials_per_slot);
      if (chosen >= 0 && gain <= highest) continue;
      chosen = i;
      highest = gain;
    }
    return chosen;
  }

 private:
  /// The best cost of each task. Of one without a feasible configuration that is what its first one
  /// is expected to cost, the less likely the more slots have found none; it is as much as of the
  /// mean task where nothing is known.
  static std::vector<double> WeightedCosts(std::span<const TaskProgress> tasks) {
    std::vector<double> costs;
    double sum = 0;
    int known = 0;
    for (const TaskProgress& task : tasks) {
      costs.push_back(std::isinf(task.best()) ? 0 : task.importance() * task.best());
      sum += costs.back();
      known += std::isfinite(task.best());
    }
    const double mean = known > 0 ? sum / known : 1;
    const double correction = Correction(tasks);
    for (size_t i = 0; i < tasks.size(); ++i) {
      const TaskProgress& task = tasks[i];
      if (std::isfinite(task.best())) continue;
      const double cost =
          task.expected_cost > 0 ? task.importance() * correction * task.expected_cost : mean;
      costs[i] = cost / (1 + task.slots());
    }
    return costs;
  }

  /// The unfinished tasks, or of those the ones that must not wait any longer.
  std::vector<int> Choices(std::span<const TaskProgress> tasks,
                           const std::vector<int>& unfinished) const {
    std::vector<int> untried, unknown;
    for (const int i : unfinished) {
      if (tasks[i].slots() > 0) continue;
      untried.push_back(i);
      if (tasks[i].expected_cost <= 0) unknown.push_back(i);
    }
    if (!unknown.empty()) return unknown;
    if (untried.empty()) return unfinished;
    int64_t trials = 0;
    for (const TaskProgress& task : tasks) trials += task.trials();
    const auto needed = static_cast<int64_t>(untried.size() + 1) * options_.trials_per_slot;
    const bool budget_ends = options_.max_trials > 0 && options_.max_trials - trials < needed;
    const bool is_late = TotalSlots(tasks) >= kSlotsBeforeAll * std::ssize(tasks);
    return budget_ends || is_late ? untried : unfinished;
  }

  TaskSchedulerOptions options_;
  std::unique_ptr<TaskScheduler> gradient_;  ///< once all tasks have a cost
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeExpectedImprovementScheduler(
    const TaskSchedulerOptions& options) {
  return std::make_unique<ExpectedImprovementScheduler>(options);
}

}  // namespace bayloom::scheduling
