// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bayloom/scheduling/belief.h"
#include "bayloom/scheduling/internal/early_termination.h"
#include "bayloom/scheduling/internal/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class SoftmaxScheduler final : public TaskScheduler {
 public:
  explicit SoftmaxScheduler(const TaskSchedulerOptions& options)
      : options_(options), belief_(options) {}

  std::string name() const override { return "softmax"; }

  int Next(std::span<const TaskProgress> tasks) override {
    if (const std::optional<int> untried = FirstUntried(tasks)) return *untried;
    const std::vector<int> choices = ImprovingTasks(tasks, options_.patience);
    if (choices.empty()) return -1;
    std::vector<double> odds = belief_.ExpectedGains(tasks, choices);
    const std::vector<double> paces = PacesOf(tasks);
    for (size_t i = 0; i < odds.size(); ++i) odds[i] *= paces[choices[i]];
    const double largest = *std::max_element(odds.begin(), odds.end());
    for (double& gain : odds) {
      gain = largest > 0 ? std::exp((gain / largest - 1) / options_.temperature) : 1;
    }
    return choices[RandomOfSlot(options_.seed, tasks).Weighted(odds)];
  }

 private:
  TaskSchedulerOptions options_;
  Belief belief_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeSoftmaxScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<SoftmaxScheduler>(options);
}

}  // namespace bayloom::scheduling
