// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/learning_curve_forecast.h"
#include "bayloom/scheduling/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

/// The most that could be gained by the task: what the confidence interval of its gain is in
/// proportion to (Hoeffding 1963).
double RangeOf(const TaskProgress& task, double gain) {
  if (std::isinf(task.best())) return gain;
  return task.importance() * (task.best() - LowerBoundOf(task));
}

class DynaTuneScheduler final : public TaskScheduler {
 public:
  explicit DynaTuneScheduler(const TaskSchedulerOptions& options)
      : options_(options), belief_(options) {}

  std::string name() const override { return "dynatune"; }

  int Next(std::span<const TaskProgress> tasks) override {
    if (const std::optional<int> untried = FirstUntried(tasks)) return *untried;
    const std::vector<int> choices = ImprovingTasks(tasks, options_.patience);
    const std::vector<double> gains = belief_.ExpectedGains(tasks, choices);
    const std::vector<double> paces = RatesOf(tasks);
    const double log_slots = std::log(TotalSlots(tasks));
    int chosen = -1;
    double highest = 0;
    for (size_t i = 0; i < choices.size(); ++i) {
      const TaskProgress& task = tasks[choices[i]];
      const double unit =
          options_.exploration_unit > 0 ? options_.exploration_unit : RangeOf(task, gains[i]);
      const double bonus = unit * std::sqrt(options_.exploration * log_slots / task.slots());
      const double bound = paces[choices[i]] * (gains[i] + bonus);
      if (chosen >= 0 && bound <= highest) continue;
      chosen = choices[i];
      highest = bound;
    }
    return chosen;
  }

 private:
  TaskSchedulerOptions options_;
  LearningCurveForecast belief_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeDynaTuneScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<DynaTuneScheduler>(options);
}

}  // namespace bayloom::scheduling
