// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <unordered_map>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

/// 12^4 configurations, and three fidelities behind them.
std::shared_ptr<const space::Space> TileSizes(bool with_fidelity) {
  space::Space::Builder builder;
  std::vector<double> values;
  for (int i = 1; i <= 12; ++i) values.push_back(8.0 * i);
  for (const char* name : {"a", "b", "c", "d"}) builder.Add(space::MakeOrdinal(name, values));
  if (with_fidelity) builder.Add(space::MakeOrdinal("size", std::vector<double>{1, 4, 16}));
  return *builder.Build();
}

/// A valley that lies elsewhere, by `bias` at the first fidelity, and is deeper the larger the
/// size; a second for each unit of size.
trial::Outcome BiasedValley(const space::Configuration& c, double bias) {
  constexpr double kOptimum[] = {9, 3, 6, 2};
  constexpr double kSizes[] = {1, 4, 16};
  const double size = c.coordinates.size() == 5 ? kSizes[static_cast<int>(c.coordinates[4])] : 16;
  double sum = 0;
  for (size_t i = 0; i < 4; ++i) {
    sum += std::pow((c.coordinates[i] - kOptimum[i] + bias * (1 - size / 16)) / 12, 2);
  }
  trial::Outcome outcome = trial::Outcome::Feasible(size * size * std::exp(4 * sum));
  outcome.Set("measure_seconds", size);
  return outcome;
}

OptimizerOptions WithFidelity(uint64_t seed) {
  OptimizerOptions options;
  options.seed = seed;
  options.fidelity = FidelityOptions{TileSizes(false)};
  return options;
}

using Objective = std::function<trial::Outcome(const space::Configuration&)>;

struct Found {
  double best = 1e300;  ///< at the last fidelity
  std::vector<int> trials = std::vector<int>(3);
  bool repeats = false;
};

Found Search(const Objective& objective, double seconds, uint64_t seed, int batch = 1) {
  const auto optimizer = MakeOptimizer("bayesian", TileSizes(true), WithFidelity(seed));
  Found found;
  std::set<std::vector<double>> asked;
  while (seconds > 0) {
    for (const space::Configuration& c : optimizer->Ask(batch)) {
      found.repeats = found.repeats || !asked.insert(c.coordinates).second;
      const trial::Outcome outcome = objective(c);
      seconds -= outcome.Get("measure_seconds", 1);
      ++found.trials[static_cast<size_t>(c.coordinates[4])];
      if (outcome.ok() && c.coordinates[4] == 2) found.best = std::min(found.best, outcome.value);
      optimizer->Tell(c, outcome);
    }
  }
  return found;
}

TEST(FidelitySearchTest, CheapFidelitiesLeadToTheBestOfTheLastOneInLessTime) {
  double chosen = 0, alone = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const auto biased = [](const space::Configuration& c) { return BiasedValley(c, 1); };
    const Found found = Search(biased, 16 * 14, seed);
    EXPECT_FALSE(found.repeats);
    EXPECT_GT(found.trials[0], found.trials[2]);
    EXPECT_GT(found.trials[2], 0);
    chosen += std::log(found.best / 256);
    OptimizerOptions options;
    options.seed = seed;
    const auto optimizer = MakeOptimizer("bayesian", TileSizes(false), options);
    double best = 1e300;
    for (int i = 0; i < 14; ++i) {
      const space::Configuration c = optimizer->Ask(1)[0];
      optimizer->Tell(c, BiasedValley(c, 0));
      best = std::min(best, BiasedValley(c, 0).value);
    }
    alone += std::log(best / 256);
  }
  EXPECT_LT(chosen, 0.5 * alone);
}

TEST(FidelitySearchTest, FidelitiesThatTellNothingAreLeftAlone) {
  const auto useless = [](const space::Configuration& c) {
    trial::Outcome outcome = BiasedValley(c, 0);
    if (c.coordinates[4] != 2) outcome.value = 1 + base::RandomStream(c.Hash()).Uniform();
    return outcome;
  };
  const Found found = Search(useless, 16 * 60, 1);
  EXPECT_LT(found.best, 256 * 1.1);
  EXPECT_GT(found.trials[2], 30);
}

TEST(FidelitySearchTest, SeveralAreAskedForAtATime) {
  const Found found =
      Search([](const space::Configuration& c) { return BiasedValley(c, 1); }, 16 * 20, 1, 4);
  EXPECT_FALSE(found.repeats);
  EXPECT_LT(found.best, 256 * 1.2);
}

TEST(FidelitySearchTest, TrialsOfHigherFidelitiesMayComeFirst) {
  for (const int level : {1, 2}) {
    const auto optimizer = MakeOptimizer("bayesian", TileSizes(true), WithFidelity(4));
    space::Configuration known{{1, 10, 1, 10, static_cast<double>(level)}};
    optimizer->Tell(known, BiasedValley(known, 1));
    std::set<std::vector<double>> asked = {known.coordinates};
    double best = 1e300;
    for (int i = 0; i < 60; ++i) {
      const std::vector<space::Configuration> next = optimizer->Ask(1);
      ASSERT_EQ(next.size(), 1U);
      EXPECT_TRUE(asked.insert(next[0].coordinates).second);
      const trial::Outcome outcome = BiasedValley(next[0], 1);
      if (next[0].coordinates[4] == 2) best = std::min(best, outcome.value);
      optimizer->Tell(next[0], outcome);
    }
    EXPECT_LT(best, 256 * 1.2) << level;
  }
}

TEST(FidelitySearchTest, WhatFailsAtALowFidelityIsNotTriedAtHigherOnes) {
  std::set<std::vector<double>> failed;
  bool tried_again = false;
  const auto fails = [&](const space::Configuration& c) {
    const std::vector<double> base(c.coordinates.begin(), c.coordinates.end() - 1);
    tried_again = tried_again || failed.contains(base);
    if (c.coordinates[0] < 8) return BiasedValley(c, 1);
    failed.insert(base);
    return trial::Outcome::Infeasible(trial::Verdict::kBuildError, "too large");
  };
  const Found found = Search(fails, 16 * 20, 2);
  EXPECT_FALSE(failed.empty());
  EXPECT_FALSE(tried_again);
  EXPECT_LT(found.best, 256 * 1.3);
}

TEST(FidelitySearchTest, TheSameSeedAndOutcomesGiveTheSameChoices) {
  const auto biased = [](const space::Configuration& c) { return BiasedValley(c, 1); };
  EXPECT_EQ(Search(biased, 16 * 10, 3).trials, Search(biased, 16 * 10, 3).trials);
  EXPECT_EQ(Search(biased, 16 * 10, 3).best, Search(biased, 16 * 10, 3).best);
}

TEST(FidelitySearchTest, ItGoesOnWhenEverythingFails) {
  const Found found = Search(
      [](const space::Configuration&) {
        return trial::Outcome::Infeasible(trial::Verdict::kCrash, "no");
      },
      40, 1);
  EXPECT_FALSE(found.repeats);
  EXPECT_EQ(found.trials[0] + found.trials[1] + found.trials[2], 40);
}

TEST(FidelitySearchTest, OtherOptimizersRefuseFidelities) {
  for (const char* name : {"random", "genetic", "forest", "portfolio"}) {
    EXPECT_THROW(MakeOptimizer(name, TileSizes(true), WithFidelity(1)), InputError) << name;
  }
}

}  // namespace
}  // namespace bayloom::optimizer
