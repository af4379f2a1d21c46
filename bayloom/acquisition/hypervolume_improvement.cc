// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/hypervolume_improvement.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bayloom/acquisition/improvement.h"

namespace bayloom::acquisition {
namespace {

/// How far below the best values points are sampled, in proportion to the distance between the best
/// values and the reference.
constexpr double kSampledBelowIdeal = 0.5;
/// What an improvement counts at least before its logarithm is taken.
constexpr double kMinImprovement = 1e-300;

}  // namespace

HypervolumeImprovement::HypervolumeImprovement(std::span<const pareto::Point> front,
                                               const pareto::Point& reference,
                                               base::RandomStream& random) {
  if (reference.size() <= kMaxExactObjectives) {
    cells_ = pareto::MakeUndominatedCells(front, reference);
    return;
  }
  pareto::Point low = pareto::BoundsOf(front).ideal;
  sample_volume_ = 1.0 / kSamples;
  for (size_t k = 0; k < low.size(); ++k) {
    low[k] -= kSampledBelowIdeal * std::abs(reference[k] - low[k]);
    sample_volume_ *= reference[k] - low[k];
  }
  for (int i = 0; i < kSamples; ++i) {
    pareto::Point drawn(low.size());
    for (size_t k = 0; k < low.size(); ++k) {
      drawn[k] = low[k] + random.Uniform() * (reference[k] - low[k]);
    }
    const bool is_dominated = std::ranges::any_of(
        front, [&](const pareto::Point& point) { return pareto::Dominates(point, drawn); });
    if (!is_dominated) samples_.push_back(std::move(drawn));
  }
}

double HypervolumeImprovement::operator()(std::span<const double> means,
                                          std::span<const double> variances) const {
  return cells_.edges.empty() ? Sampled(means, variances) : Exact(means, variances);
}

double HypervolumeImprovement::Log(std::span<const double> means,
                                   std::span<const double> variances) const {
  return std::log((*this)(means, variances) + kMinImprovement);
}

double HypervolumeImprovement::Exact(std::span<const double> means,
                                     std::span<const double> variances) const {
  std::array<std::vector<double>, kMaxExactObjectives> gains;
  for (size_t k = 0; k < means.size(); ++k) {
    gains[k].push_back(0);
    for (size_t e = 1; e < cells_.edges[k].size(); ++e) {
      gains[k].push_back(ExpectedImprovement(means[k], variances[k], cells_.edges[k][e]));
    }
  }
  double sum = 0;
  for (const pareto::UndominatedCells::Cell& cell : cells_.cells) {
    double product = 1;
    for (size_t k = 0; k < means.size(); ++k) {
      product *= gains[k][cell.upper[k]] - gains[k][cell.lower[k]];
    }
    sum += product;
  }
  return std::max(sum, 0.0);
}

double HypervolumeImprovement::Sampled(std::span<const double> means,
                                       std::span<const double> variances) const {
  double sum = 0;
  for (const pareto::Point& sample : samples_) {
    double probability = sample_volume_;
    for (size_t k = 0; k < means.size() && probability > 0; ++k) {
      probability *= ProbabilityOfImprovement(means[k], variances[k], sample[k]);
    }
    sum += probability;
  }
  return sum;
}

}  // namespace bayloom::acquisition
