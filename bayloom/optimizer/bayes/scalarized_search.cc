// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/scalarized_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bayloom/optimizer/bayes/objective_values.h"

namespace bayloom::optimizer {
namespace {

/// Of the sum beside the greatest: what is as good in the worst objective and better in another one
/// is better.
constexpr double kAugmentation = 0.05;
/// Trials, in proportion, after which weights are drawn again.
constexpr size_t kTrialsPerDraw = 20;

}  // namespace

ScalarizedSearch::ScalarizedSearch(std::unique_ptr<Optimizer> inner,
                                   std::vector<std::string> objectives, uint64_t seed)
    : inner_(std::move(inner)), objectives_(std::move(objectives)), random_(seed) {}

std::vector<space::Configuration> ScalarizedSearch::Ask(int n) {
  if (told_since_ > points_.size() / kTrialsPerDraw) DrawWeights();
  return inner_->Ask(n);
}

void ScalarizedSearch::Tell(const space::Configuration& configuration,
                            const trial::Outcome& outcome) {
  if (!outcome.ok()) {
    inner_->Tell(configuration, outcome);
    return;
  }
  pareto::Point point = ObjectiveValues(outcome, objectives_);
  if (weights_.empty()) {
    bounds_ = {point, point};
    weights_.assign(point.size(), 1);
  }
  inner_->Tell(configuration, trial::Outcome::Feasible(Scalar(point)));
  const auto [place, is_new] = places_.emplace(configuration, points_.size());
  if (is_new) {
    configurations_.push_back(configuration);
    points_.push_back(std::move(point));
  } else {
    points_[place->second] = std::move(point);
  }
  ++told_since_;
}

void ScalarizedSearch::DrawWeights() {
  told_since_ = 0;
  double sum = 0;
  // Uniform on the simplex.
  for (double& weight : weights_) sum += weight = -std::log(1 - random_.Uniform());
  for (double& weight : weights_) weight /= sum > 0 ? sum : 1;
  std::vector<pareto::Point> front;
  for (int place : pareto::FrontOf(points_)) front.push_back(points_[place]);
  bounds_ = pareto::BoundsOf(front);
  const pareto::Bounds of_all = pareto::BoundsOf(points_);
  for (size_t k = 0; k < weights_.size(); ++k) {
    if (!(bounds_.Range(k) > 0)) bounds_.nadir[k] = of_all.nadir[k];
  }
  for (size_t i = 0; i < points_.size(); ++i) {
    inner_->Tell(configurations_[i], trial::Outcome::Feasible(Scalar(points_[i])));
  }
}

double ScalarizedSearch::Scalar(const pareto::Point& point) const {
  double greatest = -INFINITY;
  double sum = 0;
  for (size_t k = 0; k < point.size(); ++k) {
    const double range = bounds_.Range(k);
    const double term = weights_[k] * (point[k] - bounds_.ideal[k]) / (range > 0 ? range : 1);
    greatest = std::max(greatest, term);
    sum += term;
  }
  return std::clamp(greatest + kAugmentation * sum, -1e300, 1e300);
}

}  // namespace bayloom::optimizer
