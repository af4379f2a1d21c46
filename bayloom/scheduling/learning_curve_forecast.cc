// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/learning_curve_forecast.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"

namespace bayloom::scheduling {
namespace {

/// How many times cheaper than the best so far a configuration can be where nothing is known.
constexpr double kUnknownRoom = 2;
/// Into how many parts a stretch of time is cut at most, and the trials of such a part.
constexpr double kMaxParts = 64;
constexpr double kMaxTrialsOfPart = 1e6;
/// How much of a lower bound is trusted: clocks vary by so much.
constexpr double kPriorTrust = 0.8;

}  // namespace

double LowerBoundOf(const TaskProgress& task) {
  const double bound = kPriorTrust * task.lower_bound;
  return bound > 0 && bound <= task.best() ? bound : task.best() / kUnknownRoom;
}

std::vector<double> LearningCurveForecast::ExpectedGains(std::span<const TaskProgress> tasks,
                                                         std::span<const int> chosen) {
  std::vector<double> gains;
  double largest = 0;
  for (int i : chosen) {
    const TaskProgress& task = tasks[i];
    if (std::isinf(task.best())) {
      gains.push_back(-1);
      continue;
    }
    const double cost = CostAfter(tasks, static_cast<size_t>(i), trials_per_slot_);
    gains.push_back(task.importance() * std::max(0.0, task.best() - cost));
    largest = std::max(largest, gains.back());
  }
  std::replace(gains.begin(), gains.end(), -1.0, largest);
  return gains;
}

std::optional<double> LearningCurveForecast::ShareWithin(std::span<const TaskProgress> tasks,
                                                         double seconds) {
  /// The next slot of a task, or several at once where they are short: what it gains, how long it
  /// takes.
  struct Slot {
    size_t task;
    int end;  ///< trials from now on
    double gain;
    double seconds;
    bool operator<(const Slot& other) const { return gain * other.seconds < other.gain * seconds; }
  };
  double total = 0;
  const auto is_hopeless = [](const TaskProgress& task) {
    return std::isinf(task.best()) && task.slots() >= kHopelessSlots;
  };
  for (const TaskProgress& task : tasks) {
    if (is_hopeless(task)) continue;
    if (task.slots() == 0 || std::isinf(task.best()) || !(task.seconds > 0)) return std::nullopt;
    total += task.weight * task.best();
  }
  if (total == 0) return 0;
  std::vector<double> costs;
  const auto next_slot = [&](size_t i, int begin) {
    const TaskProgress& task = tasks[i];
    const double pace = task.seconds / task.trials();
    const int trials = std::max(
        trials_per_slot_, static_cast<int>(std::min(seconds / kMaxParts / pace, kMaxTrialsOfPart)));
    const int end = begin + trials;
    const double cost = std::min(costs[i], CostAfter(tasks, i, end));
    const Slot slot = {i, end, task.importance() * (costs[i] - cost), trials * pace};
    costs[i] = cost;
    return slot;
  };
  std::priority_queue<Slot> slots;
  for (size_t i = 0; i < tasks.size(); ++i) {
    costs.push_back(tasks[i].best());
    if (!tasks[i].finished && !is_hopeless(tasks[i])) slots.push(next_slot(i, 0));
  }
  double gain = 0;
  double left = seconds;
  for (int part = 0; part < kMaxParts && left > 0 && !slots.empty(); ++part) {
    const Slot slot = slots.top();
    slots.pop();
    gain += slot.gain * std::min(1.0, left / slot.seconds);
    left -= slot.seconds;
    slots.push(next_slot(slot.task, slot.end));
  }
  return gain / total;
}

double LearningCurveForecast::CostAfter(std::span<const TaskProgress> tasks, size_t index,
                                        int more_trials) {
  const TaskProgress& task = tasks[index];
  const double bound = LowerBoundOf(task);
  known_.resize(std::max(known_.size(), tasks.size()));
  std::optional<Known>& known = known_[index];
  if (!known || known->trials != task.trials()) {
    std::vector<double> performances;
    for (double cost : task.best_after_trial) performances.push_back(bound / cost);
    base::RandomStream random(
        base::Hasher().Add(seed_).Add(index).Add(static_cast<uint64_t>(task.trials())).Digest());
    known = Known{task.trials(),
                  model::LearningCurve(performances, task.trials() + trials_per_slot_, random)};
  }
  const model::LearningCurve& curve = known->curve;
  return bound / (curve.best() + curve.At(task.trials() + more_trials).improvement);
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
