// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/base/random.h"

namespace bayloom::acquisition {

enum class AcquisitionKind : uint8_t {
  kExpectedImprovement,
  kProbabilityOfImprovement,
  kConfidenceBound,
};

/// How much a configuration promises, on a logarithmic scale: predictions are combined by adding.
///
///     log EI + log P(feasible) + prior_weight / trials * log prior
///
/// The confidence bound becomes -bound / unit, so that one unit less of it weighs as much as a
/// factor e in the probability of feasibility.
struct Utility {
  AcquisitionKind kind = AcquisitionKind::kExpectedImprovement;
  double best = 0;   ///< what to improve on
  double beta = 1;   ///< of the confidence bound
  double unit = 1;   ///< of the confidence bound; the values' standard deviation
  double noise = 0;  ///< variance of a value that the variances given leave out

  double operator()(double mean, double latent_variance) const;
};

/// The minimum probability of feasibility to demand of the next suggestion: one of 0, 0.1, .., 1
/// times `largest`, each as likely. That 0 is among them keeps every configuration within reach
/// (Hellsten et al. 2023, sec. 4.2).
double DrawFeasibilityThreshold(double largest, base::RandomStream& random);

/// log p where p >= threshold, else -infinity; p is taken as at least 1e-6, for a model that is
/// certain is wrong.
double LogFeasibility(double probability, double threshold);

}  // namespace bayloom::acquisition
