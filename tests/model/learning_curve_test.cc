// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/learning_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bayloom::model {
namespace {

/// a / (1 + (t / halfway)^-c) for t = 1..n, with measurements scattered below it.
std::vector<double> Rising(double asymptote, double halfway, double exponent, int n, double scatter,
                           uint64_t seed = 1) {
  base::RandomStream random(seed);
  std::vector<double> performances;
  for (int t = 1; t <= n; ++t) {
    const double best = asymptote / (1 + std::pow(t / halfway, -exponent));
    performances.push_back(best * (1 - scatter * random.Uniform()));
  }
  return performances;
}

std::span<const double> First(size_t trials, const std::vector<double>& performances) {
  return std::span<const double>(performances).first(trials);
}

TEST(LearningCurve, TakesPerformancesOfAnyMagnitude) {
  for (double scale : {1e-300, 1e-150, 1e-12, 1.0, 1e12, 1e150, 1e200}) {
    std::vector<double> performances = Rising(0.6, 30, 0.8, 60, 0.3);
    for (double& p : performances) p *= scale;
    performances[3] = 0;
    base::RandomStream random(4);
    const LearningCurve curve(performances, 80, random);
    const auto at = curve.At(80);
    EXPECT_TRUE(std::isfinite(at.mean)) << scale;
    EXPECT_TRUE(std::isfinite(at.improvement)) << scale;
    EXPECT_GE(at.improvement, 0) << scale;
  }
}

TEST(LearningCurve, ExtrapolatesALogPowerCurve) {
  const auto whole = Rising(0.6, 30, 0.8, 200, 0);
  base::RandomStream random(2);
  const LearningCurve curve(First(100, whole), 200, random);
  const auto at = curve.At(200);
  EXPECT_NEAR(at.mean, whole.back(), 0.01);
  EXPECT_LT(at.deviation, 0.02);
  EXPECT_NEAR(at.improvement, whole[199] - whole[99], 0.01);
}

TEST(LearningCurve, KnowsLessOfWhatIsFurtherOffAndMoreFromMoreTrials) {
  const auto whole = Rising(0.6, 30, 0.8, 200, 0.1);
  base::RandomStream random(3);
  const LearningCurve early(First(20, whole), 40, random);
  const LearningCurve late(First(180, whole), 200, random);
  EXPECT_GT(early.At(400).deviation, early.At(40).deviation);
  EXPECT_GT(early.At(400).deviation, 2 * late.At(400).deviation);
}

TEST(LearningCurve, NeverFallsShortOfWhatWasFound) {
  for (const uint64_t seed : {4, 5, 6}) {
    const auto performances = Rising(0.4, 5, 2, 60, 0.3, seed);
    base::RandomStream random(seed);
    const LearningCurve curve(performances, 64, random);
    EXPECT_EQ(curve.best(), *std::max_element(performances.begin(), performances.end()));
    for (const double trial : {64.0, 100.0, 1000.0}) {
      EXPECT_GE(curve.At(trial).mean, curve.best());
      EXPECT_GE(curve.At(trial).improvement, 0);
    }
    EXPECT_LE(curve.At(64).mean, curve.At(128).mean);
  }
}

TEST(LearningCurve, ExpectsMoreOfACurveThatRisesThanOfOneThatIsFlat) {
  auto rising = Rising(0.8, 100, 1, 60, 0.05);
  std::vector<double> flat(60, rising.back());
  base::RandomStream random(7);
  EXPECT_GT(LearningCurve(rising, 120, random).At(120).improvement,
            5 * LearningCurve(flat, 120, random).At(120).improvement);
}

TEST(LearningCurve, BeginsAnewAtAJump) {
  auto performances = Rising(0.2, 5, 1, 50, 0);
  const auto after = Rising(0.5, 30, 1, 120, 0);
  performances.insert(performances.end(), after.begin() + 50, after.begin() + 100);
  base::RandomStream random(8);
  const LearningCurve curve(performances, 120, random);
  EXPECT_EQ(curve.piece_begin(), 51);
  EXPECT_NEAR(curve.At(120).mean, after[119], 0.01);
  EXPECT_GT(curve.accepted(), 0.1);
}

TEST(LearningCurve, BearsFailuresAndSingleTrials) {
  base::RandomStream random(9);
  const LearningCurve one(std::vector<double>{0.3}, 8, random);
  EXPECT_GE(one.At(8).mean, 0.3);
  EXPECT_LE(one.At(8).mean, 1.0);
  const LearningCurve late(std::vector<double>{0, 0, 0, 0.1, 0}, 8, random);
  EXPECT_EQ(late.piece_begin(), 4);
  EXPECT_GE(late.At(16).mean, 0.1);
  const LearningCurve perfect(std::vector<double>(30, 1.0), 64, random);
  EXPECT_NEAR(perfect.At(64).mean, 1, 0.1);
}

}  // namespace
}  // namespace bayloom::model
