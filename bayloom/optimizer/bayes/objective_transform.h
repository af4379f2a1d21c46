// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <span>

#include "bayloom/model/objective_scale.h"
#include "bayloom/model/value_range.h"

namespace bayloom::optimizer {

/// Makes values look normal before a Gaussian process sees them: the power transform of Box and
/// Cox (1964), (v^power - 1) / power, of the most likely power among a few; power 0 is the
/// logarithm. Powers below 0 say that bad values differ less than they seem to: what takes ten
/// times as long as the best and what takes a hundred times are both just slow.
///
/// Increasing, so that the least value stays least. Values that are not positive stay as they are.
class ObjectiveTransform {
 public:
  ObjectiveTransform() = default;  ///< changes nothing
  /// Chooses by the values (kAuto), or as told where they are positive.
  ObjectiveTransform(std::span<const double> values, model::ObjectiveScale scale);
  /// For one of several objectives: leaves values up to the median as they are, for hypervolumes
  /// are measured in them, and lets those beyond grow like the logarithm of the distance, for what
  /// is far behind a front is just bad. Smooth.
  static ObjectiveTransform WithLinearFront(std::span<const double> values);

  double operator()(double value) const;
  /// Whether it makes sense of the value, and what it makes of it is of a magnitude that occurred
  /// among the values it was chosen by or is an ordinary one.
  bool Accepts(double value) const;
  double power() const { return power_; }

 private:
  void ChoosePower(std::span<const double> values);

  double power_ = 1;
  double bend_ = std::numeric_limits<double>::infinity();  ///< up to here it is linear
  double unit_ = 1;                                        ///< beyond, of the logarithm
  double largest_ = model::ValueRange::kMaxMagnitude;      ///< magnitude that it accepts
};

}  // namespace bayloom::optimizer
