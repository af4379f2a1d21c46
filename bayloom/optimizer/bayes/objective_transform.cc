// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/objective_transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace bayloom::optimizer {
namespace {

double Power(double value, double power) {
  if (power == 1) return value;
  return power == 0 ? std::log(value) : (std::pow(value, power) - 1) / power;
}

/// Logarithm of the likelihood of positive values, were they normal after the transform; mean and
/// variance are the likeliest ones.
double LogLikelihood(std::span<const double> values, double power) {
  double sum = 0, squares = 0, logs = 0;
  for (double v : values) logs += std::log(v);
  for (double v : values) sum += Power(v, power);
  const double n = static_cast<double>(values.size());
  for (double v : values) squares += std::pow(Power(v, power) - sum / n, 2);
  if (!(squares > 0)) return -std::numeric_limits<double>::infinity();
  return -0.5 * n * std::log(squares / n) + (power - 1) * logs;
}

}  // namespace

ObjectiveTransform::ObjectiveTransform(std::span<const double> values,
                                       model::ObjectiveScale scale) {
  const bool is_positive =
      !values.empty() && std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
  if (is_positive && scale != model::ObjectiveScale::kLinear) power_ = 0;
  if (power_ == 0 && scale == model::ObjectiveScale::kAuto) ChoosePower(values);
  for (const double value : values) largest_ = std::max(largest_, std::abs((*this)(value)));
}

ObjectiveTransform ObjectiveTransform::WithLinearFront(std::span<const double> values) {
  ObjectiveTransform transform;
  if (values.empty()) return transform;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  if (const double unit = median - sorted.front(); unit > 0 && std::isfinite(unit)) {
    transform.bend_ = median;
    transform.unit_ = unit;
  }
  return transform;
}

void ObjectiveTransform::ChoosePower(std::span<const double> values) {
  double best = LogLikelihood(values, power_);
  for (double power : {-0.5, 0.5, -1.0, 1.0}) {
    const double likelihood = LogLikelihood(values, power);
    if (!(likelihood > best)) continue;
    best = likelihood;
    power_ = power;
  }
}

double ObjectiveTransform::operator()(double value) const {
  if (value <= bend_) return Power(value, power_);
  return bend_ + unit_ * std::log1p((value - bend_) / unit_);
}

bool ObjectiveTransform::Accepts(double value) const {
  return (power_ == 1 || value > 0) && std::abs((*this)(value)) <= largest_;
}

}  // namespace bayloom::optimizer
