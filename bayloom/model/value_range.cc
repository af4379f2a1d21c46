// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/value_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace bayloom::model {
namespace {

constexpr double kSmallest = 1 / ValueRange::kMaxMagnitude;

}  // namespace

ValueRange::ValueRange(const Eigen::VectorXd& values) {
  if (values.size() == 0) return;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : values) {
    if (std::abs(value) > kMaxMagnitude) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const double largest = values.cwiseAbs().maxCoeff();
  const bool is_ordinary = least <= most;
  if (!is_ordinary || (largest > 0 && largest < kSmallest)) {
    exponent_ = -std::ilogb(largest);
    return;
  }
  const double beyond = most > least ? most - least : std::max(1.0, std::abs(most));
  if (values.maxCoeff() > kMaxMagnitude) high_ = most + beyond;
  if (values.minCoeff() < -kMaxMagnitude) low_ = least - beyond;
}

double ValueRange::operator()(double value) const {
  return std::clamp(exponent_ == 0 ? value : std::ldexp(value, exponent_), low_, high_);
}

double ValueRange::Restore(double scaled) const {
  constexpr double kMaxDouble = std::numeric_limits<double>::max();
  return std::clamp(exponent_ == 0 ? scaled : std::ldexp(scaled, -exponent_), -kMaxDouble,
                    kMaxDouble);
}

double ValueRange::LogFactor() const { return exponent_ * std::numbers::ln2; }

}  // namespace bayloom::model
