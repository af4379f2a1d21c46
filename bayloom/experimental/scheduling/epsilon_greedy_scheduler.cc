// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/experimental/scheduling/schedulers.h"
#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/learning_curve_forecast.h"
#include "bayloom/scheduling/slot_random.h"

namespace bayloom::experimental {
namespace {

class EpsilonGreedyScheduler final : public scheduling::TaskScheduler {
 public:
  EpsilonGreedyScheduler(const scheduling::TaskSchedulerOptions& options, double epsilon)
      : options_(options), epsilon_(epsilon), belief_(options) {}

  std::string name() const override { return "epsilon-greedy"; }

  int Next(std::span<const scheduling::TaskProgress> tasks) override {
    if (const std::optional<int> untried = scheduling::FirstUntried(tasks)) return *untried;
    const std::vector<int> choices = scheduling::ImprovingTasks(tasks, options_.patience);
    if (choices.empty()) return -1;
    base::RandomStream random = scheduling::RandomOfSlot(options_.seed, tasks);
    if (random.Uniform() < epsilon_) {
      return choices[random.UniformInt(static_cast<int64_t>(choices.size()))];
    }
    std::vector<double> gains = belief_.ExpectedGains(tasks, choices);
    const std::vector<double> paces = scheduling::RatesOf(tasks);
    for (size_t i = 0; i < gains.size(); ++i) gains[i] *= paces[choices[i]];
    return choices[std::max_element(gains.begin(), gains.end()) - gains.begin()];
  }

 private:
  scheduling::TaskSchedulerOptions options_;
  double epsilon_;
  scheduling::LearningCurveForecast belief_;
};

}  // namespace

std::unique_ptr<scheduling::TaskScheduler> MakeEpsilonGreedyScheduler(
    const scheduling::TaskSchedulerOptions& options, double epsilon) {
  return std::make_unique<EpsilonGreedyScheduler>(options, epsilon);
}

}  // namespace bayloom::experimental
