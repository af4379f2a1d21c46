// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/standardizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/model/fit_failure.h"

namespace bayloom::model {

void CheckFinite(const Eigen::VectorXd& values) {
  if (!values.allFinite()) {
    throw FitFailure("it cannot learn from values that are not finite");
  }
}

Standardizer::Standardizer(bool log, double centre, double spread, double least,
                           const ValueRange& range)
    : log_(log),
      centre_(centre),
      floor_(std::max(1e-3 * least, std::numeric_limits<double>::denorm_min())),
      range_(range) {
  // What is left of a constant objective is rounding.
  if (spread > 1e-12 * (1 + std::abs(centre))) spread_ = spread;
}

Standardizer::Standardizer(const Eigen::VectorXd& values, bool log) {
  const ValueRange range = log ? ValueRange() : ValueRange(values);
  const Eigen::ArrayXd scaled =
      log ? values.array().log().eval() : values.unaryExpr(range).array().eval();
  const double centre = scaled.mean();
  const double spread = std::sqrt((scaled - centre).square().mean());
  *this = Standardizer(log, centre, spread, values.minCoeff(), range);
}

Standardizer Standardizer::Choose(const Eigen::VectorXd& values, ObjectiveScale scale) {
  CheckFinite(values);
  const Standardizer linear(values, false);
  if (scale == ObjectiveScale::kLinear || values.minCoeff() <= 0) return linear;
  const Standardizer log(values, true);
  // Standardized values have the same normal likelihood on both scales.
  const bool better = log.LogJacobian(values) > linear.LogJacobian(values);
  return scale == ObjectiveScale::kLog || better ? log : linear;
}

double Standardizer::Apply(double value) const {
  return ((log_ ? std::log(std::max(value, floor_)) : range_(value)) - centre_) / spread_;
}

Eigen::VectorXd Standardizer::Apply(const Eigen::VectorXd& values) const {
  return values.unaryExpr([this](double value) { return Apply(value); });
}

double Standardizer::Invert(double standard) const {
  const double scaled = centre_ + spread_ * standard;
  if (!log_) return range_.Restore(scaled);
  return std::min(std::exp(scaled), std::numeric_limits<double>::max());
}

double Standardizer::LogJacobian(const Eigen::VectorXd& values) const {
  const double logs = log_ ? values.array().log().sum() : 0;
  const auto count = static_cast<double>(values.size());
  return -logs - count * (std::log(spread_) - range_.LogFactor());
}

}  // namespace bayloom::model
