// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_alternative.h"

#include <algorithm>
#include <cmath>

namespace bayloom::scheduling {
namespace {

using Side = std::span<const int>;

double CostOf(Side side, std::span<const double> costs) {
  double sum = 0;
  for (int task : side) sum += costs[task];
  return sum;
}

/// Of the side that costs more, as a share of how often there is the choice.
double ChanceOf(Side side, double behind, std::span<const TaskProgress> tasks) {
  double gain = 0;
  for (int task : side) {
    if (tasks[task].slots() == 0) return 1;
    if (std::isinf(tasks[task].best())) return tasks[task].slots() < kHopelessSlots ? 1 : 0;
    gain += tasks[task].best() / tasks[task].slots();
  }
  return gain > 0 ? std::max(0.0, 1 - behind / gain) : 0;
}

}  // namespace

bool TaskAlternative::IsTogether(std::span<const double> costs) const {
  return costs[together] < CostOf(apart, costs);
}

std::vector<double> DivideWeights(std::vector<double> weights,
                                  std::span<const TaskAlternative> alternatives,
                                  std::span<const double> costs) {
  for (const TaskAlternative& choice : alternatives) {
    if (!choice.IsTogether(costs)) continue;
    weights[choice.together] += choice.count;
    for (int task : choice.apart) weights[task] -= choice.count;
  }
  return weights;
}

void Divide(std::span<TaskProgress> tasks, std::span<const double> weights,
            std::span<const TaskAlternative> alternatives) {
  std::vector<double> costs;
  for (const TaskProgress& task : tasks) costs.push_back(task.best());
  const std::vector<double> divided =
      DivideWeights({weights.begin(), weights.end()}, alternatives, costs);
  for (size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].weight = divided[i];
    tasks[i].chance = 0;
  }
  for (const TaskAlternative& choice : alternatives) {
    const Side one(&choice.together, 1), others(choice.apart);
    const bool is_together = choice.IsTogether(costs);
    const Side behind = is_together ? others : one;
    const double lag = CostOf(behind, costs) - CostOf(is_together ? one : others, costs);
    const double chance = choice.count * ChanceOf(behind, lag, tasks);
    for (int task : behind) tasks[task].chance += chance;
  }
}

}  // namespace bayloom::scheduling
