// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class SequentialScheduler final : public TaskScheduler {
 public:
  explicit SequentialScheduler(const TaskSchedulerOptions& options) : options_(options) {}

  std::string name() const override { return "sequential"; }

  int Next(std::span<const TaskProgress> tasks) override {
    const int count = static_cast<int>(tasks.size());
    int first_unfinished = -1;
    for (int i = count - 1; i >= 0; --i) {
      if (!tasks[i].finished) first_unfinished = i;
    }
    // Slots rarely make up a share exactly: what one task had too much, the next has less.
    int64_t spent = 0;
    for (int i = 0; i < count; ++i) {
      spent += tasks[i].trials();
      const bool has_share_left =
          static_cast<double>(spent) / (i + 1) < static_cast<double>(options_.max_trials) / count;
      if (!tasks[i].finished && has_share_left) return i;
    }
    return first_unfinished;
  }

 private:
  TaskSchedulerOptions options_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeSequentialScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<SequentialScheduler>(options);
}

}  // namespace bayloom::scheduling
