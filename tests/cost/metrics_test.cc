// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bayloom::cost {
namespace {

using Values = std::vector<double>;

TEST(RootMeanSquareError, KnownValue) {
  EXPECT_DOUBLE_EQ(RootMeanSquareError(Values{1, 2, 3}, Values{1, 4, 3}), std::sqrt(4.0 / 3));
}

TEST(SpearmanCorrelation, IsOneForAnyIncreasingMapAndMinusOneForItsReverse) {
  EXPECT_DOUBLE_EQ(SpearmanCorrelation(Values{1, 10, 100, 1000}, Values{0.1, 0.2, 0.3, 0.9}), 1);
  EXPECT_DOUBLE_EQ(SpearmanCorrelation(Values{4, 3, 2, 1}, Values{0.1, 0.2, 0.3, 0.9}), -1);
}

TEST(SpearmanCorrelation, TiesShareTheirMeanRank) {
  // Ranks {0.5, 0.5, 2} against {0, 1, 2}: 1.5 / sqrt(1.5 * 2).
  EXPECT_NEAR(SpearmanCorrelation(Values{1, 1, 5}, Values{1, 2, 3}), 0.8660254, 1e-6);
  EXPECT_EQ(SpearmanCorrelation(Values{7, 7, 7}, Values{1, 2, 3}), 0);
}

TEST(PairwiseAccuracy, CountsPairsAndHalvesPredictedTies) {
  // Pairs by truth 1 < 2 < 3: (1,2) right, (1,3) tied, (2,3) wrong.
  EXPECT_DOUBLE_EQ(PairwiseAccuracy(Values{0, 1, 0}, Values{1, 2, 3}), 1.5 / 3);
  EXPECT_DOUBLE_EQ(PairwiseAccuracy(Values{1, 2}, Values{3, 3}), 0.5);
}

TEST(TopKRecall, CountsTheBestThatWereChosen) {
  const Values predicted = {0.9, 0.8, 0.1, 0.2}, truth = {0.5, 0.1, 1.0, 0.2};
  EXPECT_DOUBLE_EQ(TopKRecall(predicted, truth, 2), 0.5);
  EXPECT_DOUBLE_EQ(TopKRecall(predicted, truth, 99), 1);
}

TEST(TopKScore, IsTheShareOfTheBestThatIsReached) {
  const Values predicted = {0.9, 0.8, 0.1}, truth = {0.25, 0.5, 1.0};
  EXPECT_DOUBLE_EQ(TopKScore(predicted, truth, 1), 0.25);
  EXPECT_DOUBLE_EQ(TopKScore(predicted, truth, 2), 0.5);
  EXPECT_DOUBLE_EQ(TopKScore(predicted, truth, 3), 1);
}

}  // namespace
}  // namespace bayloom::cost
