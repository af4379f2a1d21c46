// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/scheduling/oracle.h"

#include <algorithm>
#include <functional>

namespace bayloom {
namespace {

/// Cost after 0, 1, ... slots.
std::vector<double> CostsBySlot(const RecordedCurve& curve, int trials_per_slot) {
  std::vector<double> costs = {curve.FirstCost()};
  const int length = static_cast<int>(curve.best_after_trial.size());
  for (int begin = 0; begin < length; begin += trials_per_slot) {
    const int end = std::min(begin + trials_per_slot, length);
    costs.push_back(std::min(costs.back(), curve.best_after_trial[end - 1]));
  }
  return costs;
}

/// How far the lower convex hull falls at each slot: never more than at the slot before.
std::vector<double> HullSteps(const std::vector<double>& costs) {
  std::vector<double> steps;
  for (size_t from = 0; from + 1 < costs.size();) {
    size_t corner = from + 1;
    double steepest = 0;
    for (size_t to = from + 1; to < costs.size(); ++to) {
      const double slope = (costs[from] - costs[to]) / static_cast<double>(to - from);
      if (slope < steepest || (slope == steepest && slope == 0)) continue;
      steepest = slope;
      corner = to;
    }
    steps.insert(steps.end(), corner - from, steepest);
    from = corner;
  }
  return steps;
}

}  // namespace

std::vector<double> OracleLatencies(const RecordedNetwork& network, const Draw& draw,
                                    int trials_per_slot, int slots) {
  double latency = 0;
  std::vector<double> steps;
  for (size_t i = 0; i < draw.size(); ++i) {
    const double weight = network.tasks[i].weight;
    const std::vector<double> costs = CostsBySlot(*draw[i], trials_per_slot);
    latency += weight * costs.front();
    for (double step : HullSteps(costs)) steps.push_back(weight * step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  steps.resize(slots, 0);
  std::vector<double> latencies = {latency};
  for (double step : steps) latencies.push_back(latencies.back() - step);
  return latencies;
}

}  // namespace bayloom
