// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class RandomScheduler final : public TaskScheduler {
 public:
  explicit RandomScheduler(const TaskSchedulerOptions& options) : seed_(options.seed) {}

  std::string name() const override { return "random"; }

  int Next(std::span<const TaskProgress> tasks) override {
    const std::vector<int> choices = UnfinishedTasks(tasks);
    if (choices.empty()) return -1;
    base::RandomStream random = RandomOfSlot(seed_, tasks);
    return choices[random.UniformInt(static_cast<int64_t>(choices.size()))];
  }

 private:
  uint64_t seed_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeRandomScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<RandomScheduler>(options);
}

}  // namespace bayloom::scheduling
