// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/scheduling/belief.h"
#include "bayloom/scheduling/internal/early_termination.h"
#include "bayloom/scheduling/internal/slot_random.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {
namespace {

class EpsilonGreedyScheduler final : public TaskScheduler {
 public:
  explicit EpsilonGreedyScheduler(const TaskSchedulerOptions& options)
      : options_(options), belief_(options) {}

  std::string name() const override { return "epsilon-greedy"; }

  int Next(std::span<const TaskProgress> tasks) override {
    if (const std::optional<int> untried = FirstUntried(tasks)) return *untried;
    const std::vector<int> choices = ImprovingTasks(tasks, options_.patience);
    if (choices.empty()) return -1;
    base::RandomStream random = RandomOfSlot(options_.seed, tasks);
    if (random.Uniform() < options_.epsilon) {
      return choices[random.UniformInt(static_cast<int64_t>(choices.size()))];
    }
    std::vector<double> gains = belief_.ExpectedGains(tasks, choices);
    const std::vector<double> paces = PacesOf(tasks);
    for (size_t i = 0; i < gains.size(); ++i) gains[i] *= paces[choices[i]];
    return choices[std::max_element(gains.begin(), gains.end()) - gains.begin()];
  }

 private:
  TaskSchedulerOptions options_;
  Belief belief_;
};

}  // namespace

std::unique_ptr<TaskScheduler> MakeEpsilonGreedyScheduler(const TaskSchedulerOptions& options) {
  return std::make_unique<EpsilonGreedyScheduler>(options);
}

}  // namespace bayloom::scheduling
