// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/internal/early_termination.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class RoundRobinScheduler final : public TaskScheduler {
 public:
  RoundRobinScheduler(const TaskSchedulerOptions& options, bool lets_rest)
      : options_(options), lets_rest_(lets_rest) {}

  std::string name() const override { return lets_rest_ ? "dynamic-round-robin" : "round-robin"; }

  int Next(std::span<const TaskProgress> tasks) override {
    const std::vector<int> choices =
        lets_rest_ ? ImprovingTasks(tasks, options_.patience) : UnfinishedTasks(tasks);
    int chosen = -1;
    for (int i : choices) {
      if (chosen < 0 || tasks[i].slots() < tasks[chosen].slots()) chosen = i;
    }
    return chosen;
  }

 private:
  TaskSchedulerOptions options_;
  bool lets_rest_;  ///< tasks that stopped improving rest
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeRoundRobinScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<RoundRobinScheduler>(options, false);
}

std::unique_ptr<TaskScheduler> MakeDynamicRoundRobinScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<RoundRobinScheduler>(options, true);
}

}  // namespace bayloom::scheduling
