// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/pareto/hypervolume.h"
#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

/// x and y in steps of a hundredth; x is the first objective, and how far y is from a half makes
/// the second one worse: the front is where y = 50.
std::shared_ptr<const space::Space> Grid() {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("x", 0, 100)).Add(space::MakeInteger("y", 0, 100));
  return *builder.Build();
}

trial::Outcome TwoObjectives(const space::Configuration& configuration) {
  const double x = configuration.coordinates[0] / 100;
  const double y = configuration.coordinates[1] / 100;
  if (x > 0.4 && x < 0.5) {
    return trial::Outcome::Infeasible(trial::Verdict::kCrash, "a gap in the front");
  }
  trial::Outcome outcome = trial::Outcome::Feasible(x);
  outcome.Set("other", 1 - std::sqrt(x) + 4 * std::abs(y - 0.5));
  return outcome;
}

struct Searched {
  double hypervolume = 0;
  std::vector<space::Configuration> asked;
};

Searched Search(const std::string& name, int trials, uint64_t seed, int batch = 1) {
  OptimizerOptions options;
  options.seed = seed;
  options.objectives = {"value", "other"};
  const auto space = Grid();
  const auto optimizer = MakeOptimizer(name, space, options);
  Searched searched;
  std::vector<pareto::Point> points;
  while (std::ssize(searched.asked) < trials) {
    const std::vector<space::Configuration> asked = optimizer->Ask(batch);
    for (const space::Configuration& configuration : asked) {
      EXPECT_TRUE(std::ranges::find(searched.asked, configuration) == searched.asked.end());
      searched.asked.push_back(configuration);
    }
    for (const space::Configuration& configuration : asked) {
      const trial::Outcome outcome = TwoObjectives(configuration);
      optimizer->Tell(configuration, outcome);
      if (outcome.ok()) points.push_back({outcome.value, outcome.Get("other", 0)});
    }
  }
  searched.hypervolume = pareto::Hypervolume(points, pareto::Point{1.1, 1.1});
  return searched;
}

/// What the whole front dominates.
double Whole() {
  std::vector<pareto::Point> front;
  for (int x = 0; x <= 100; ++x) {
    if (x > 40 && x < 50) continue;
    front.push_back({x / 100.0, 1 - std::sqrt(x / 100.0)});
  }
  return pareto::Hypervolume(front, pareto::Point{1.1, 1.1});
}

/// Of three seeds.
double MedianHypervolume(const std::string& name, int trials, int batch = 1) {
  std::vector<double> found;
  for (uint64_t seed : {1, 2, 3}) found.push_back(Search(name, trials, seed, batch).hypervolume);
  std::ranges::sort(found);
  return found[1];
}

TEST(SeveralObjectivesTest, BayesianFindsTheFrontInFewTrials) {
  const double random = MedianHypervolume("random", 40);
  EXPECT_GT(MedianHypervolume("bayesian", 40), 0.9 * Whole());
  EXPECT_GT(MedianHypervolume("bayesian", 40, /*batch=*/4), 0.87 * Whole());
  EXPECT_LT(random, 0.8 * Whole());
}

TEST(SeveralObjectivesTest, TheOthersBeatRandomInMore) {
  EXPECT_GT(MedianHypervolume("forest", 60), MedianHypervolume("random", 60));
  EXPECT_GT(MedianHypervolume("genetic", 120), MedianHypervolume("random", 120));
  for (const char* name : {"ensemble", "annealing"}) {
    EXPECT_GT(MedianHypervolume(name, 600), MedianHypervolume("random", 300)) << name;
  }
}

TEST(SeveralObjectivesTest, TheSameSeedChoosesTheSame) {
  for (const std::string& name : Optimizers().Names()) {
    EXPECT_EQ(Search(name, 25, 7, 2).asked, Search(name, 25, 7, 2).asked) << name;
  }
}

TEST(SeveralObjectivesTest, ThreeAndFourObjectivesAreSearched) {
  for (int count : {3, 4}) {
    OptimizerOptions options;
    for (int k = 1; k < count; ++k) options.objectives.push_back("f" + std::to_string(k));
    const auto space = Grid();
    const auto optimizer = MakeOptimizer("bayesian", space, options);
    std::vector<pareto::Point> points;
    for (int trial = 0; trial < 15; ++trial) {
      const space::Configuration configuration = optimizer->Ask(1).at(0);
      trial::Outcome outcome = TwoObjectives(configuration);
      if (outcome.ok()) {
        points.push_back({outcome.value});
        for (int k = 1; k < count; ++k) {
          outcome.Set(options.objectives[k],
                      std::abs(configuration.coordinates[(k - 1) % 2] - 30.0 * (k - 1)) / 100);
          points.back().push_back(outcome.values.back().value);
        }
      }
      optimizer->Tell(configuration, outcome);
    }
    EXPECT_GT(pareto::Hypervolume(points, pareto::Point(count, 1)), 0.3);
  }
}

TEST(SeveralObjectivesTest, WhatIsOfNoInterestIsNotSearched) {
  const auto share_of_interest = [](std::vector<std::optional<double>> thresholds) {
    constexpr int kBeginning = 10, kTrials = 40;
    OptimizerOptions options;
    options.objectives = {"value", "other"};
    options.thresholds = std::move(thresholds);
    const auto optimizer = MakeOptimizer("bayesian", Grid(), options);
    double of_interest = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const space::Configuration configuration = optimizer->Ask(1).at(0);
      optimizer->Tell(configuration, TwoObjectives(configuration));
      if (trial >= kBeginning) of_interest += configuration.coordinates[0] <= 30;
    }
    return of_interest / (kTrials - kBeginning);
  };
  EXPECT_GT(share_of_interest({{0.3, std::nullopt}}), share_of_interest({}) + 0.2);
  EXPECT_THROW(share_of_interest({{0.3}}), InputError);
  EXPECT_NO_THROW(share_of_interest({{-1, -1}}));  // which nothing meets
}

TEST(SeveralObjectivesTest, AMissingOrInfiniteValueIsRefused) {
  OptimizerOptions options;
  options.objectives = {"value", "other"};
  for (const char* name : {"bayesian", "genetic", "annealing"}) {
    const auto optimizer = MakeOptimizer(name, Grid(), options);
    const space::Configuration configuration = optimizer->Ask(1).at(0);
    trial::Outcome outcome = trial::Outcome::Feasible(1);
    EXPECT_THROW(optimizer->Tell(configuration, outcome), InputError) << name;
    outcome.Set("other", std::numeric_limits<double>::infinity());
    EXPECT_THROW(optimizer->Tell(configuration, outcome), InputError) << name;
    outcome.Set("other", 2);
    optimizer->Tell(configuration, outcome);
  }
}

}  // namespace
}  // namespace bayloom::optimizer
