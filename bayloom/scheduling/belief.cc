#include "bayloom/scheduling/belief.h"

#include <algorithm>
#include <cmath>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/model/learning_curve.h"

namespace bayloom {
namespace {

/// How many times cheaper than the best so far a configuration can be where nothing is known.
constexpr double kUnknownRoom = 4;

}  // namespace

double LowerBoundOf(const TaskProgress& task) {
  const bool is_a_bound = task.lower_bound > 0 && task.lower_bound <= task.best();
  return is_a_bound ? task.lower_bound : task.best() / kUnknownRoom;
}

std::vector<double> Belief::ExpectedGains(std::span<const TaskProgress> tasks,
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

double Belief::GainOf(const TaskProgress& task, uint64_t index) const {
  const double bound = LowerBoundOf(task);
  std::vector<double> performances;
  for (double cost : task.best_after_trial) performances.push_back(bound / cost);
  RandomStream random(
      Hasher().Add(seed_).Add(index).Add(static_cast<uint64_t>(task.trials())).Digest());
  const double horizon = task.trials() + trials_per_slot_;
  const LearningCurve curve(performances, horizon, random);
  const double expected = bound / (curve.best() + curve.At(horizon).improvement);
  return std::max(0.0, task.best() - expected);
}

std::optional<int> FirstUntried(std::span<const TaskProgress> tasks) {
  for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
    if (!tasks[i].finished && tasks[i].slots() == 0) return i;
  }
  return std::nullopt;
}

}  // namespace bayloom
