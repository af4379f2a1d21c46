// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/learning_curve_forecast.h"

#include <algorithm>
#include <cmath>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/model/learning_curve.h"

namespace bayloom::scheduling {
namespace {

/// How many times cheaper than the best so far a configuration can be where nothing is known.
constexpr double kUnknownRoom = 2;
/// How much of a lower bound is trusted: clocks vary by so much.
constexpr double kPriorTrust = 0.8;

}  // namespace

double LowerBoundOf(const TaskProgress& task) {
  const double bound = kPriorTrust * task.lower_bound;
  return bound > 0 && bound <= task.best() ? bound : task.best() / kUnknownRoom;
}

std::vector<double> LearningCurveForecast::ExpectedGains(std::span<const TaskProgress> tasks,
                                                         std::span<const int> chosen) {
  known_.resize(tasks.size());
  std::vector<double> gains;
  double largest = 0;
  for (int i : chosen) {
    const TaskProgress& task = tasks[i];
    if (std::isinf(task.best())) {
      gains.push_back(-1);
      continue;
    }
    std::optional<Known>& known = known_[i];
    if (!known || known->trials != task.trials()) {
      known = {task.trials(), GainOf(task, static_cast<uint64_t>(i))};
    }
    gains.push_back(task.weight * known->gain);
    largest = std::max(largest, gains.back());
  }
  std::replace(gains.begin(), gains.end(), -1.0, largest);
  return gains;
}

double LearningCurveForecast::GainOf(const TaskProgress& task, uint64_t index) const {
  const double bound = LowerBoundOf(task);
  std::vector<double> performances;
  for (double cost : task.best_after_trial) performances.push_back(bound / cost);
  base::RandomStream random(
      base::Hasher().Add(seed_).Add(index).Add(static_cast<uint64_t>(task.trials())).Digest());
  const double horizon = task.trials() + trials_per_slot_;
  const model::LearningCurve curve(performances, horizon, random);
  const double expected = bound / (curve.best() + curve.At(horizon).improvement);
  return std::max(0.0, task.best() - expected);
}

std::vector<double> RatesOf(std::span<const TaskProgress> tasks) {
  double sum = 0;
  int known = 0;
  for (const TaskProgress& task : tasks) {
    if (task.seconds <= 0 || task.trials() == 0) continue;
    sum += task.seconds / task.trials();
    ++known;
  }
  std::vector<double> paces;
  for (const TaskProgress& task : tasks) {
    const bool is_known = task.seconds > 0 && task.trials() > 0;
    paces.push_back(is_known ? sum / known * task.trials() / task.seconds : 1);
  }
  return paces;
}

std::optional<int> FirstUntried(std::span<const TaskProgress> tasks) {
  for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
    if (!tasks[i].finished && tasks[i].slots() == 0) return i;
  }
  return std::nullopt;
}

}  // namespace bayloom::scheduling
