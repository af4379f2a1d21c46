// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bayloom::model {

/// An estimate and the half width of its 95 % confidence interval.
struct Estimate {
  double value;
  double half_width;
};

/// How much one parameter contributes to the variance of a function of independent parameters.
struct SobolIndex {
  Estimate first;  ///< by itself
  Estimate total;  ///< together with all its interactions
};

}  // namespace bayloom::model
