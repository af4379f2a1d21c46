// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class RoundRobinScheduler final : public TaskScheduler {
 public:
  std::string name() const override { return "round-robin"; }

  int Next(std::span<const TaskProgress> tasks) override {
    int chosen = -1;
    for (int i : UnfinishedTasks(tasks)) {
      if (chosen < 0 || tasks[i].slots() < tasks[chosen].slots()) chosen = i;
    }
    return chosen;
  }
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeRoundRobinScheduler(const TaskSchedulerOptions&) {
  return std::make_unique<RoundRobinScheduler>();
}

}  // namespace bayloom::scheduling
