// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "bayloom/model/objective_scale.h"

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

  double operator()(double value) const;
  /// Whether it makes sense of the value.
  bool Accepts(double value) const { return power_ == 1 || value > 0; }
  double power() const { return power_; }

 private:
  double power_ = 1;
};

}  // namespace bayloom::optimizer
