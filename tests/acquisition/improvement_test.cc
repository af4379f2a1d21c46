// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/improvement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace bayloom::acquisition {
namespace {

/// The expectation of gain(f) for normal f, by the trapezoidal rule over 12 standard deviations
/// on a grid that has the kink at `best` as one of its points.
double Quadrature(double mean, double variance, double best,
                  const std::function<double(double)>& gain) {
  const double s = std::sqrt(variance);
  const double low = mean - 12 * s;
  if (best <= low) return 0;
  constexpr int kSteps = 200000;
  const double h = (best - low) / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double f = low + i * h;
    const double z = (f - mean) / s;
    const double weight = i == 0 || i == kSteps ? 0.5 : 1;
    sum += weight * gain(f) * std::exp(-0.5 * z * z);
  }
  return sum * h / (s * std::sqrt(2 * std::numbers::pi));
}

TEST(ImprovementTest, ExpectedImprovementEqualsQuadrature) {
  for (double mean : {-3.0, -0.5, 0.0, 0.7, 4.0}) {
    for (double variance : {1e-2, 0.5, 1.0, 9.0}) {
      const double expected = Quadrature(mean, variance, 0.25, [](double f) { return 0.25 - f; });
      EXPECT_NEAR(ExpectedImprovement(mean, variance, 0.25), expected, 1e-8 + 1e-8 * expected)
          << mean << " " << variance;
    }
  }
}

TEST(ImprovementTest, ProbabilityOfImprovementEqualsQuadrature) {
  for (double mean : {-3.0, -0.5, 0.0, 0.7, 4.0}) {
    for (double variance : {0.5, 1.0, 9.0}) {
      const double expected = Quadrature(mean, variance, 0.25, [](double) { return 1.0; });
      EXPECT_NEAR(ProbabilityOfImprovement(mean, variance, 0.25), expected, 1e-8);
    }
  }
}

TEST(ImprovementTest, LogarithmsAgreeWithWhatTheyAreTheLogarithmOf) {
  for (double mean : {-3.0, 0.0, 1.0, 7.0, 30.0}) {
    EXPECT_NEAR(LogExpectedImprovement(mean, 4, 0.5), std::log(ExpectedImprovement(mean, 4, 0.5)),
                1e-9);
    EXPECT_NEAR(LogProbabilityOfImprovement(mean, 4, 0.5),
                std::log(ProbabilityOfImprovement(mean, 4, 0.5)), 1e-9);
  }
}

TEST(ImprovementTest, LogarithmsStayOrderedAndContinuousFarInTheTail) {
  double last_improvement = LogExpectedImprovement(10, 1, 0);
  double last_probability = LogProbabilityOfImprovement(10, 1, 0);
  for (double mean = 10.25; mean < 1000; mean += 0.25) {
    const double improvement = LogExpectedImprovement(mean, 1, 0);
    const double probability = LogProbabilityOfImprovement(mean, 1, 0);
    ASSERT_TRUE(std::isfinite(improvement));
    ASSERT_TRUE(std::isfinite(probability));
    // The slope in the tail is -(z + small): no jump where the series takes over.
    ASSERT_NEAR(improvement - last_improvement, -0.25 * (mean - 0.125), 0.25 * 3 / mean + 1e-6);
    ASSERT_NEAR(probability - last_probability, -0.25 * (mean - 0.125), 0.25 * 3 / mean + 1e-6);
    last_improvement = improvement;
    last_probability = probability;
  }
}

TEST(ImprovementTest, ACertainPointGainsItsDistance) {
  EXPECT_EQ(ExpectedImprovement(1, 0, 3), 2);
  EXPECT_EQ(ExpectedImprovement(3, 0, 1), 0);
  EXPECT_EQ(LogExpectedImprovement(3, 0, 1), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ProbabilityOfImprovement(1, 0, 3), 1);
  EXPECT_EQ(ProbabilityOfImprovement(3, 0, 1), 0);
}

TEST(ImprovementTest, ConfidenceBoundKnownValuesAndGrowingCuriosity) {
  EXPECT_DOUBLE_EQ(LowerConfidenceBound(1, 4, 0.25), 0);
  EXPECT_DOUBLE_EQ(LowerConfidenceBound(1, 4, 0), 1);
  EXPECT_DOUBLE_EQ(ConfidenceBeta(0), 0);
  EXPECT_GT(ConfidenceBeta(100), ConfidenceBeta(10));
}

}  // namespace
}  // namespace bayloom::acquisition
