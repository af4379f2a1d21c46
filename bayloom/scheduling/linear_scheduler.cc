// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class LinearScheduler final : public TaskScheduler {
 public:
  std::string name() const override { return "linear"; }

  /// The task furthest behind its share.
  int Next(std::span<const TaskProgress> tasks) override {
    const bool is_known = std::any_of(tasks.begin(), tasks.end(),
                                      [](const TaskProgress& task) { return task.work > 0; });
    int chosen = -1;
    double least = 0;
    for (int i : UnfinishedTasks(tasks)) {
      if (tasks[i].slots() == 0) return i;
      const double share = tasks[i].importance() * (is_known ? tasks[i].work : 1);
      const double done = tasks[i].trials() / share;  // infinite for tasks without work
      if (chosen >= 0 && done >= least) continue;
      chosen = i;
      least = done;
    }
    return chosen;
  }
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeLinearScheduler(const TaskSchedulerOptions&) {
  return std::make_unique<LinearScheduler>();
}

}  // namespace bayloom::scheduling
