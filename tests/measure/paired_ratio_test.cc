// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/paired_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom::measure {
namespace {

TEST(PairedRatio, IsTheMedianOverRounds) {
  const std::vector<double> first = {2, 2.2, 40, 2.1, 1.9}, second = {1, 1, 1, 1, 1};
  const PairedRatio ratio = RatioInTurns(first, second);
  EXPECT_DOUBLE_EQ(ratio.ratio, 2.1);
  EXPECT_DOUBLE_EQ(ratio.low, 1.9);
  EXPECT_DOUBLE_EQ(ratio.high, 40);
  EXPECT_EQ(ratio.rounds, 5);
  EXPECT_FALSE(ratio.IsClear()) << "five rounds are too few for 95 %";
}

TEST(PairedRatio, OneRoundSaysNothingOfTheNoise) {
  const double first[] = {3}, second[] = {2};
  const PairedRatio ratio = RatioInTurns(first, second);
  EXPECT_DOUBLE_EQ(ratio.ratio, 1.5);
  EXPECT_FALSE(ratio.IsClear());
}

TEST(PairedRatio, TheIntervalLeavesOutWhatTheSignTestDoes) {
  // Of 20 throws at most 5 heads have a probability of 0.0207, at most 6 of 0.0577: the interval is
  // from the 6th to the 15th.
  std::vector<double> first, second(20, 1);
  for (int i = 1; i <= 20; ++i) first.push_back(i);
  const PairedRatio ratio = RatioInTurns(first, second);
  EXPECT_DOUBLE_EQ(ratio.low, 6);
  EXPECT_DOUBLE_EQ(ratio.high, 15);
}

TEST(PairedRatio, ManyRoundsNarrowTheInterval) {
  for (const int rounds : {499, 501, 100'000}) {
    std::vector<double> first, second(rounds, 1);
    for (int i = 0; i < rounds; ++i) first.push_back(1 + i / static_cast<double>(rounds));
    const PairedRatio ratio = RatioInTurns(first, second);
    EXPECT_NEAR(ratio.ratio - ratio.low, 0.98 / std::sqrt(rounds), 0.003) << rounds;
    EXPECT_NEAR(ratio.high - ratio.ratio, 0.98 / std::sqrt(rounds), 0.003) << rounds;
  }
}

TEST(PairedRatio, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  base::RandomStream random(1);
  int missed = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> first, second;
    for (int i = 0; i < 15; ++i) {
      first.push_back(std::exp(0.3 * random.Normal()));
      second.push_back(std::exp(0.3 * random.Normal()));
    }
    missed += RatioInTurns(first, second).IsClear();
  }
  EXPECT_LT(missed, 0.05 * kTrials);
  EXPECT_GT(missed, 0.01 * kTrials) << "so wide an interval says nothing";
}

TEST(PairedRatio, DriftThatBothSeeDoesNotShow) {
  std::vector<double> first, second;
  for (int i = 0; i < 12; ++i) {
    const double drift = std::exp(0.2 * i);
    first.push_back(1.05 * drift);
    second.push_back(drift);
  }
  const PairedRatio ratio = RatioInTurns(first, second);
  EXPECT_NEAR(ratio.ratio, 1.05, 1e-12);
  EXPECT_TRUE(ratio.IsClear());
}

}  // namespace
}  // namespace bayloom::measure
