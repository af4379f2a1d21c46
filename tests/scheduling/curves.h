// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {

/// A task whose best cost after every trial is known beforehand.
struct KnownTask {
  double weight = 1;
  double work = 1;
  std::vector<double> best_after_trial;
};

/// Falls from `first` to `last` along a power of the trial.
inline KnownTask Falling(double weight, double first, double last, double exponent, int trials) {
  KnownTask task{weight, first, {}};
  for (int t = 1; t <= trials; ++t) {
    task.best_after_trial.push_back(last + (first - last) * std::pow(t, -exponent));
  }
  return task;
}

/// Gives slots of known tasks as a scheduler wants them.
class KnownSession {
 public:
  KnownSession(std::vector<KnownTask> tasks, int slot) : tasks_(std::move(tasks)), slot_(slot) {
    for (const KnownTask& task : tasks_) {
      TaskProgress progress;
      progress.weight = task.weight;
      progress.work = task.work;
      progress.expected_cost = task.work;
      progress_.push_back(progress);
    }
  }

  const std::vector<TaskProgress>& progress() const { return progress_; }
  const std::vector<int>& choices() const { return choices_; }

  /// False if the scheduler wants no more.
  bool RunSlot(TaskScheduler& scheduler) {
    const int chosen = scheduler.Next(progress_);
    if (chosen < 0) return false;
    choices_.push_back(chosen);
    TaskProgress& task = progress_[chosen];
    const std::vector<double>& curve = tasks_[chosen].best_after_trial;
    const int length = static_cast<int>(curve.size());
    for (int i = 0; i < slot_ && task.trials() < length; ++i) {
      task.best_after_trial.push_back(curve[task.trials()]);
    }
    task.slot_ends.push_back(task.trials());
    task.finished = task.trials() == length;
    return true;
  }

  double CostOfTheWhole() const {
    double sum = 0;
    for (const TaskProgress& task : progress_) sum += task.weight * task.best();
    return sum;
  }
  void Finish(int task) { progress_[task].finished = true; }

 private:
  std::vector<KnownTask> tasks_;
  int slot_;
  std::vector<TaskProgress> progress_;
  std::vector<int> choices_;
};

/// A network of unequal operators: some fall for long, most are soon done, one is never feasible.
inline std::vector<KnownTask> UnequalTasks(int trials = 160) {
  return {Falling(1, 8, 1, 0.3, trials),   Falling(2, 1, 0.5, 1, trials),
          Falling(1, 0.2, 0.1, 2, trials), Falling(4, 0.1, 0.09, 1, trials),
          Falling(1, 6, 2, 0.5, trials),   Falling(1, 0.3, 0.3, 1, trials)};
}

/// The cost of unequal tasks after so many slots.
inline double CostAfterSlots(TaskScheduler& scheduler, int slots) {
  KnownSession session(UnequalTasks(400), 8);
  for (int slot = 0; slot < slots; ++slot) session.RunSlot(scheduler);
  return session.CostOfTheWhole();
}

/// The slots that a scheduler needs until unequal tasks cost no more.
inline int SlotsToReach(const std::string& name, double cost) {
  KnownSession session(UnequalTasks(400), 8);
  const auto scheduler = CreateTaskScheduler(name, {.seed = 5, .trials_per_slot = 8});
  while (session.CostOfTheWhole() > cost || session.choices().size() < 6) {
    if (!session.RunSlot(*scheduler)) return 10000;
  }
  return static_cast<int>(session.choices().size());
}

inline TaskProgress Progress(const std::vector<double>& best, int slot = 8, double weight = 1) {
  TaskProgress task;
  task.weight = weight;
  task.best_after_trial = best;
  for (int end = slot; end < task.trials(); end += slot) task.slot_ends.push_back(end);
  task.slot_ends.push_back(task.trials());
  return task;
}

/// Throughput rises along a log-power curve to `top` times the bound's.
inline TaskProgress LogPower(double top, double halfway, int trials) {
  std::vector<double> costs;
  for (int t = 1; t <= trials; ++t) costs.push_back((1 + halfway / t) / top);
  TaskProgress task = Progress(costs);
  task.lower_bound = 1;
  return task;
}

}  // namespace bayloom::scheduling
