// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>

namespace bayloom::model {

/// The gamma distribution over a positive hyperparameter x, with density proportional to
/// x^(shape - 1) exp(-rate x). Its tails are long both towards zero and infinity, so it only cuts
/// extremes (Hellsten et al. 2023, sec. 3.2).
struct GammaPrior {
  double shape;
  double rate;

  /// Logarithm of the density but for a constant.
  double LogDensity(double x) const { return (shape - 1) * std::log(x) - rate * x; }
  /// Its derivative by log x.
  double Slope(double x) const { return shape - 1 - rate * x; }
};

}  // namespace bayloom::model
