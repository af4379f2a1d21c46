// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bayloom/experimental/scheduling/schedulers.h"
#include "bayloom/scheduling/early_termination.h"
#include "bayloom/scheduling/learning_curve_forecast.h"
#include "bayloom/scheduling/slot_random.h"

namespace bayloom::experimental {
namespace {

class SoftmaxScheduler final : public scheduling::TaskScheduler {
 public:
  SoftmaxScheduler(const scheduling::TaskSchedulerOptions& options, double temperature)
      : options_(options), temperature_(temperature), belief_(options) {}

  std::string name() const override { return "softmax"; }

  int Next(std::span<const scheduling::TaskProgress> tasks) override {
    if (const std::optional<int> untried = scheduling::FirstUntried(tasks)) return *untried;
    const std::vector<int> choices = scheduling::ImprovingTasks(tasks, options_.patience);
    if (choices.empty()) return -1;
    std::vector<double> odds = belief_.ExpectedGains(tasks, choices);
    const std::vector<double> paces = scheduling::RatesOf(tasks);
    for (size_t i = 0; i < odds.size(); ++i) odds[i] *= paces[choices[i]];
    const double largest = *std::max_element(odds.begin(), odds.end());
    for (double& gain : odds) {
      gain = largest > 0 ? std::exp((gain / largest - 1) / temperature_) : 1;
    }
    return choices[scheduling::RandomOfSlot(options_.seed, tasks).Weighted(odds)];
  }

 private:
  scheduling::TaskSchedulerOptions options_;
  double temperature_;
  scheduling::LearningCurveForecast belief_;
};

}  // namespace

std::unique_ptr<scheduling::TaskScheduler> MakeSoftmaxScheduler(
    const scheduling::TaskSchedulerOptions& options, double temperature) {
  return std::make_unique<SoftmaxScheduler>(options, temperature);
}

}  // namespace bayloom::experimental
