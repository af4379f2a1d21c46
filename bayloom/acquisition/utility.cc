// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/utility.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/acquisition/improvement.h"

namespace bayloom::acquisition {

double Utility::operator()(double mean, double latent_variance) const {
  const double variance = latent_variance + noise;
  switch (kind) {
    case AcquisitionKind::kExpectedImprovement:
      return LogExpectedImprovement(mean, variance, best);
    case AcquisitionKind::kProbabilityOfImprovement:
      return LogProbabilityOfImprovement(mean, variance, best);
    case AcquisitionKind::kConfidenceBound:
      return -LowerConfidenceBound(mean, variance, beta) / unit;
  }
  return 0;
}

double DrawFeasibilityThreshold(double largest, base::RandomStream& random) {
  constexpr int kSteps = 10;
  return largest * static_cast<double>(random.UniformInt(kSteps + 1)) / kSteps;
}

double LogFeasibility(double probability, double threshold) {
  if (probability < threshold) return -std::numeric_limits<double>::infinity();
  return std::log(std::max(probability, 1e-6));
}

}  // namespace bayloom::acquisition
