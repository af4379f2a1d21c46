// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/optimizer/bayes/history.h"

namespace bayloom::optimizer {

/// Makes rises of any objective comparable: the logarithm where all values are positive (1 is a
/// factor of e), else multiples of the mean distance of ordinary values from the best known.
class Energy {
 public:
  /// The history has a best trial.
  explicit Energy(const History& history);
  double operator()(double value) const;

 private:
  double scale_ = 0;  ///< 0 means logarithmic
};

}  // namespace bayloom::optimizer
