// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>

#include "bayloom/model/objective_scale.h"
#include "bayloom/model/value_range.h"

namespace bayloom::model {

/// Throws FitFailure unless all values are finite.
void CheckFinite(const Eigen::VectorXd& values);

/// Makes observations standard: an optional logarithm, then mean 0 and standard deviation 1. Takes
/// finite values of any magnitude (see ValueRange).
class Standardizer {
 public:
  Standardizer() = default;
  /// Fits to `values`. A constant objective is only shifted. `log` needs positive values.
  Standardizer(const Eigen::VectorXd& values, bool log);
  /// With numbers of one's own: `least` is the least value that is known; `range` is for values,
  /// and `centre` and `spread` within it, unless `log`.
  Standardizer(bool log, double centre, double spread, double least, const ValueRange& range = {});
  /// Fits on a scale; kAuto compares how well a normal distribution describes values and logs.
  static Standardizer Choose(const Eigen::VectorXd& values, ObjectiveScale scale);

  bool log() const { return log_; }
  /// On the scale of logarithms, values far below those fitted to, or without a logarithm, count
  /// as a thousandth of the least of them.
  double Apply(double value) const;
  Eigen::VectorXd Apply(const Eigen::VectorXd& values) const;
  /// A finite value.
  double Invert(double standard) const;

  /// Sum over `values` of the logarithm of dApply/dvalue: what makes densities of standardized
  /// values comparable between scales.
  double LogJacobian(const Eigen::VectorXd& values) const;

 private:
  bool log_ = false;
  double centre_ = 0;
  double spread_ = 1;
  double floor_ = 0;
  ValueRange range_;  ///< not on the scale of logarithms
};

}  // namespace bayloom::model
