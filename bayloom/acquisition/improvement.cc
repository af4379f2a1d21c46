// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/improvement.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace bayloom::acquisition {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double LogNormalDensity(double z) { return -0.5 * (z * z + std::log(2 * std::numbers::pi)); }
double NormalDensity(double z) { return std::exp(LogNormalDensity(z)); }
double NormalDistribution(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// Where the series in 1/z^2 below are right to nine digits and the closed forms still do not
/// underflow.
constexpr double kTail = -20;

/// log(phi(z) + z Phi(z)).
double LogUnitImprovement(double z) {
  if (z > kTail) return std::log(NormalDensity(z) + z * NormalDistribution(z));
  const double r = 1 / (z * z);
  return LogNormalDensity(z) + std::log(r * (1 - r * (3 - r * (15 - 105 * r))));
}

double LogNormalDistribution(double z) {
  if (z > kTail) return std::log(NormalDistribution(z));
  const double r = 1 / (z * z);
  return LogNormalDensity(z) - std::log(-z) + std::log1p(-r * (1 - r * (3 - 15 * r)));
}

}  // namespace

double ExpectedImprovement(double mean, double variance, double best) {
  if (variance <= 0) return best > mean ? best - mean : 0;
  const double s = std::sqrt(variance);
  const double z = (best - mean) / s;
  return s * (NormalDensity(z) + z * NormalDistribution(z));
}

double LogExpectedImprovement(double mean, double variance, double best) {
  if (variance <= 0) return best > mean ? std::log(best - mean) : -kInfinity;
  const double s = std::sqrt(variance);
  return std::log(s) + LogUnitImprovement((best - mean) / s);
}

double ProbabilityOfImprovement(double mean, double variance, double best) {
  if (variance <= 0) return best > mean ? 1 : 0;
  return NormalDistribution((best - mean) / std::sqrt(variance));
}

double LogProbabilityOfImprovement(double mean, double variance, double best) {
  if (variance <= 0) return best > mean ? 0 : -kInfinity;
  return LogNormalDistribution((best - mean) / std::sqrt(variance));
}

double LowerConfidenceBound(double mean, double variance, double beta) {
  return mean - std::sqrt(beta * variance);
}

double ConfidenceBeta(int trials) { return std::log(2.0 * trials + 1) / 8; }

}  // namespace bayloom::acquisition
