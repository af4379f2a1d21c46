// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>

namespace bayloom::model {

/// Brings finite values of any magnitude to where their squares and sums neither overflow nor
/// vanish. Values up to kMaxMagnitude stay exactly as they are. Larger ones, mostly penalties
/// such as the largest double, count as one range of the others beyond the worst (or the best) of
/// those: they stay extreme, and what the others say is not drowned. If there are no others, or all
/// are too small, all are multiplied by a power of two.
class ValueRange {
 public:
  static constexpr double kMaxMagnitude = 1e100;

  /// Values beyond kMaxMagnitude count as kMaxMagnitude.
  ValueRange() = default;
  explicit ValueRange(const Eigen::VectorXd& values);

  double operator()(double value) const;
  /// From the range back, as far as there is a finite value.
  double Restore(double scaled) const;
  /// The logarithm of what values are multiplied by.
  double LogFactor() const;

 private:
  int exponent_ = 0;  ///< of the power of two
  double low_ = -kMaxMagnitude, high_ = kMaxMagnitude;
};

}  // namespace bayloom::model
