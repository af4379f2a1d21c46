// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bayloom/base/random.h"

namespace bayloom::tuning {
namespace {

/// Rounds of programs with these true times, noise of the machine and drift that all see.
Turns Race(const std::vector<double>& truths, double noise, int rounds, uint64_t seed) {
  base::RandomStream random(seed);
  Turns turns(static_cast<int>(truths.size()));
  for (int round = 0; round < rounds && turns.CountIn() > 1; ++round) {
    const double drift = 1 + 0.5 * std::sin(0.3 * round);
    std::vector<double> seconds;
    for (const double truth : truths) {
      const double hiccup = random.Uniform() < 0.05 ? 3 : 1;
      seconds.push_back(truth * drift * hiccup * std::exp(noise * random.Normal()));
    }
    turns.AddRound(seconds);
    turns.Drop(turns.Noise());
  }
  return turns;
}

TEST(Turns, WhatIsClearlyFasterIsChosen) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Turns turns = Race({1.0, 0.8, 0.9}, 0.03, 30, seed);
    EXPECT_EQ(turns.Chosen(), 1) << seed;
    EXPECT_EQ(turns.CountIn(), 1) << seed;
  }
}

TEST(Turns, TheFirstIsKeptWhereNoneIsFaster) {
  int left = 0;
  constexpr int kRaces = 300;
  for (uint64_t seed = 0; seed < kRaces; ++seed) {
    left += Race({1, 1, 1, 1, 1}, 0.05, 30, seed).Chosen() != 0;
  }
  EXPECT_LT(left, 0.1 * kRaces) << "noise decided";
}

TEST(Turns, TheFirstIsLeftForNothingSlower) {
  int left = 0;
  constexpr int kRaces = 300;
  for (uint64_t seed = 0; seed < kRaces; ++seed) {
    left += Race({1, 1.03, 1.1, 1.2}, 0.1, 25, seed).Chosen() != 0;
  }
  EXPECT_LT(left, 0.03 * kRaces);
}

TEST(Turns, MoreNoiseNeedsMoreRounds) {
  EXPECT_EQ(Race({1.0, 0.95}, 0.2, 4, 1).Chosen(), 0);
  EXPECT_EQ(Race({1.0, 0.95}, 0.005, 6, 1).Chosen(), 1);
  EXPECT_EQ(Race({1.0, 0.85}, 0.2, 400, 1).Chosen(), 1);
}

TEST(Turns, TooFewRoundsDropNothing) {
  Turns turns(2);
  turns.AddRound(std::vector<double>{1.0, 5.0});
  turns.AddRound(std::vector<double>{1.0, 5.0});
  turns.Drop(0);
  EXPECT_EQ(turns.CountIn(), 2);
  EXPECT_EQ(turns.Fastest(), 0);
}

}  // namespace
}  // namespace bayloom::tuning
