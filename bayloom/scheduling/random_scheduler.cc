// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/internal/early_termination.h"
#include "bayloom/scheduling/internal/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class RandomScheduler final : public TaskScheduler {
 public:
  RandomScheduler(const TaskSchedulerOptions& options, bool lets_rest)
      : options_(options), lets_rest_(lets_rest) {}

  std::string name() const override { return lets_rest_ ? "dynamic-random" : "random"; }

  int Next(std::span<const TaskProgress> tasks) override {
    const std::vector<int> choices =
        lets_rest_ ? ImprovingTasks(tasks, options_.patience) : UnfinishedTasks(tasks);
    if (choices.empty()) return -1;
    base::RandomStream random = RandomOfSlot(options_.seed, tasks);
    return choices[random.UniformInt(static_cast<int64_t>(choices.size()))];
  }

 private:
  TaskSchedulerOptions options_;
  bool lets_rest_;  ///< tasks that stopped improving rest
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeRandomScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<RandomScheduler>(options, false);
}

std::unique_ptr<TaskScheduler> MakeDynamicRandomScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<RandomScheduler>(options, true);
}

}  // namespace bayloom::scheduling
