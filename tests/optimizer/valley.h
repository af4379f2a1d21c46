// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>

#include "bayloom/space/space.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::optimizer {

/// A smooth valley over 16^4 configurations, whose optimum of 1 is at ranks (11, 4, 8, 2).
inline trial::Outcome Valley(const space::Configuration& c) {
  constexpr double kOptimum[] = {11, 4, 8, 2};
  double sum = 0;
  for (size_t i = 0; i < 4; ++i) sum += std::pow((c.coordinates[i] - kOptimum[i]) / 16, 2);
  return trial::Outcome::Feasible(std::exp(4 * sum));
}

}  // namespace bayloom::optimizer
