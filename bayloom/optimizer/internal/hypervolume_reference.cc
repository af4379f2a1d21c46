// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/hypervolume_reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bayloom::optimizer {
namespace {

/// The part of the suggestions that count from the medians, at first.
constexpr double kMostFromMedians = 0.5;
/// That part is so many times the parameters over the points later.
constexpr double kFromMediansPerParameter = 2;

double MedianOf(std::span<const pareto::Point> points, size_t objective) {
  std::vector<double> values;
  for (const pareto::Point& point : points) values.push_back(point[objective]);
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

pareto::Point HypervolumeReference(std::span<const pareto::Point> points,
                                   std::span<const std::optional<double>> thresholds,
                                   int parameters, base::RandomStream& random) {
  pareto::Point reference = pareto::DefaultReference(points);
  const double share = std::min(
      kMostFromMedians, kFromMediansPerParameter * parameters / static_cast<double>(points.size()));
  const bool from_medians = random.Uniform() < share;
  for (size_t k = 0; k < reference.size(); ++k) {
    const double threshold =
        k < thresholds.size() ? thresholds[k].value_or(reference[k]) : reference[k];
    // One that the scale of the objective does not have is not finite.
    if (std::isfinite(threshold) && threshold < reference[k]) {
      reference[k] = threshold;
    } else if (from_medians) {
      reference[k] = std::min(reference[k], MedianOf(points, k));
    }
  }
  return reference;
}

}  // namespace bayloom::optimizer
