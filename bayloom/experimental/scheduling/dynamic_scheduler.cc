// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "bayloom/experimental/scheduling/schedulers.h"
#include "bayloom/scheduling/early_termination.h"

namespace bayloom::experimental {
namespace {

class DynamicScheduler final : public scheduling::TaskScheduler {
 public:
  DynamicScheduler(std::unique_ptr<scheduling::TaskScheduler> scheduler, int patience)
      : scheduler_(std::move(scheduler)), patience_(patience) {}

  std::string name() const override { return "dynamic-" + scheduler_->name(); }

  int Next(std::span<const scheduling::TaskProgress> tasks) override {
    std::vector<scheduling::TaskProgress> seen(tasks.begin(), tasks.end());
    for (scheduling::TaskProgress& task : seen) task.finished = true;
    for (int i : scheduling::ImprovingTasks(tasks, patience_)) seen[i].finished = false;
    return scheduler_->Next(seen);
  }

 private:
  std::unique_ptr<scheduling::TaskScheduler> scheduler_;
  int patience_;
};

}  // namespace

std::unique_ptr<scheduling::TaskScheduler> MakeDynamicScheduler(
    std::unique_ptr<scheduling::TaskScheduler> scheduler,
    const scheduling::TaskSchedulerOptions& options) {
  return std::make_unique<DynamicScheduler>(std::move(scheduler), options.patience);
}

}  // namespace bayloom::experimental
