// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/score_loss.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bayloom::cost {
namespace {

TEST(SquaredLoss, KnownValueAndFiniteDifferences) {
  EXPECT_DOUBLE_EQ(SquaredLoss(std::vector<float>{0, 0}, std::vector<double>{1, 0.5}).value, 0.125);
  const std::vector<double> labels = {0.9, 0.1, 0.4};
  std::vector<float> scores = {0.3f, -1.2f, 2.0f};
  const ScoreLoss loss = SquaredLoss(scores, labels);
  for (int i = 0; i < 3; ++i) {
    std::vector<float> above = scores, below = scores;
    above[i] += 0.01f;
    below[i] -= 0.01f;
    EXPECT_NEAR(loss.gradient[i],
                (SquaredLoss(above, labels).value - SquaredLoss(below, labels).value) / 0.02, 1e-4);
  }
}

TEST(LambdaRankLoss, KnownValueOfAPair) {
  // Ranks 2 and 1, gains 1 and 0, maxDCG 1, scores apart by 1 in the wrong direction.
  const std::vector<float> scores = {0, 1};
  const std::vector<double> labels = {1, 0};
  const double weight = 1 - 1 / std::log2(3.0);
  EXPECT_NEAR(LambdaRankLoss(scores, labels).value, weight * std::log2(1 + std::exp(1.0)), 1e-6);
}

TEST(LambdaRankLoss, GradientEqualsFiniteDifferences) {
  const std::vector<double> labels = {0.9, 0.1, 0.4, 0.4, 0};
  const std::vector<float> scores = {0.3f, 0.7f, -0.2f, 1.5f, -1.0f};
  const ScoreLoss loss = LambdaRankLoss(scores, labels);
  double sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    sum += loss.gradient[i];
    std::vector<float> above = scores, below = scores;  // too little to change a rank
    above[i] += 0.01f;
    below[i] -= 0.01f;
    EXPECT_NEAR(loss.gradient[i],
                (LambdaRankLoss(above, labels).value - LambdaRankLoss(below, labels).value) / 0.02,
                1e-3);
  }
  EXPECT_NEAR(sum, 0, 1e-5);
}

TEST(LambdaRankLoss, EqualLabelsHaveNoLoss) {
  EXPECT_EQ(LambdaRankLoss(std::vector<float>{3, 1}, std::vector<double>{0.5, 0.5}).value, 0);
  EXPECT_EQ(LambdaRankLoss(std::vector<float>{3, 1}, std::vector<double>{0, 0}).value, 0);
}

}  // namespace
}  // namespace bayloom::cost
