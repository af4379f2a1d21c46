// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/techniques/portfolio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/optimizer/bayes/trust_regions.h"
#include "bayloom/space/parameter.h"
#include "tests/optimizer/valley.h"

namespace bayloom::optimizer {
namespace {

/// 16^4, of which those whose first two are both large are not feasible.
std::shared_ptr<const space::Space> ConstrainedTiles() {
  space::Space::Builder builder;
  for (const char* name : {"a", "b", "c", "d"}) builder.Add(space::MakeInteger(name, 0, 15));
  EXPECT_TRUE(builder.AddConstraint("a + b <= 24").ok());
  return *builder.Build();
}

TEST(PortfolioTest, LeavesAGaussianProcessAloneThatKeepsFindingBetter) {
  const auto portfolio = MakeOptimizer("portfolio", ConstrainedTiles(), {.seed = 3});
  const auto alone = MakeOptimizer("bayesian", ConstrainedTiles(), {.seed = 3});
  for (int i = 0; i < 60; ++i) {
    const std::vector<space::Configuration> asked = portfolio->Ask(1);
    ASSERT_EQ(asked, alone->Ask(1)) << "trial " << i;
    const auto better = trial::Outcome::Feasible(100.0 - i);
    portfolio->Tell(asked[0], better);
    alone->Tell(asked[0], better);
  }
}

TEST(PortfolioTest, AsksOthersOnceNothingBetterIsFound) {
  const auto portfolio = MakeOptimizer("portfolio", ConstrainedTiles(), {.seed = 3});
  const auto alone = MakeOptimizer("bayesian", ConstrainedTiles(), {.seed = 3});
  int first = -1;
  for (int i = 0; i < 80 && first < 0; ++i) {
    const std::vector<space::Configuration> asked = portfolio->Ask(1);
    if (asked != alone->Ask(1)) first = i;
    const trial::Outcome outcome = trial::Outcome::Feasible(i < 20 ? 100.0 - i : 100.0 + i);
    portfolio->Tell(asked[0], outcome);
    alone->Tell(asked[0], outcome);
  }
  EXPECT_GT(first, 30);
}

TEST(PortfolioTest, FindsTheValleyAloneAndInBatches) {
  for (int batch : {1, 5}) {
    const auto portfolio = MakeOptimizer("portfolio", ConstrainedTiles(), {.seed = 1});
    double best = 1e300;
    for (int i = 0; i < 100; i += batch) {
      for (const space::Configuration& c : portfolio->Ask(batch)) {
        portfolio->Tell(c, Valley(c));
        best = std::min(best, Valley(c).value);
      }
    }
    EXPECT_LT(best, 1.02) << batch;
  }
}

TEST(PortfolioTest, ArmsAskForWhatStandsForOthersOnly) {
  OptimizerOptions options;
  options.canonical = [](const space::Configuration& c) {  // the last parameter means nothing
    space::Configuration canonical = c;
    canonical.coordinates[3] = 0;
    return canonical;
  };
  const auto portfolio = MakeOptimizer("portfolio", ConstrainedTiles(), options);
  for (int i = 0; i < 100; ++i) {
    const space::Configuration c = portfolio->Ask(1).at(0);
    EXPECT_EQ(c.coordinates[3], 0) << i;
    portfolio->Tell(c, trial::Outcome::Feasible(i < 20 ? 100.0 - i : 100.0 + i));
  }
}

TEST(PortfolioTest, AnArmThatProposesNothingKeepsNoneFromItsTurn) {
  // Without neighbours trust regions have no candidates, but hill climbing begins anywhere.
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("a", 0, 399));
  builder.Add(space::MakeInteger("b", 0, 399));
  ASSERT_TRUE(builder.AddConstraint("a == b").ok());
  const auto portfolio = MakeOptimizer("portfolio", *builder.Build(), {.seed = 3});
  int far = 0;
  for (int i = 0; i < 120; ++i) {
    const space::Configuration c = portfolio->Ask(1).at(0);
    portfolio->Tell(c, trial::Outcome::Feasible(1 + c.coordinates[0]));
    if (i >= 40) far += c.coordinates[0] > 200;
  }
  EXPECT_GE(far, 3);
}

class TrustRegionsTest : public testing::Test {
 protected:
  void Record(const space::Configuration& c, double value) {
    history_.Record(c, trial::Outcome::Feasible(value));
    regions_.Observe(history_, history_.trials().back());
  }
  /// In neighbours' steps.
  static double Steps(const space::Configuration& a, const space::Configuration& b) {
    double steps = 0;
    for (size_t i = 0; i < 4; ++i) steps += std::abs(a.coordinates[i] - b.coordinates[i]);
    return steps;
  }

  base::RandomStream random_{5};
  History history_{ConstrainedTiles()};
  TrustRegions regions_;
};

TEST_F(TrustRegionsTest, OpenAroundTheBestTrialsThatDiffer) {
  const space::Configuration best = {{3, 3, 3, 3}}, near = {{3, 3, 3, 4}}, far = {{9, 9, 9, 9}};
  Record(best, 1);
  Record(near, 2);
  Record(far, 3);
  std::vector<double> bests;
  for (int i = 0; i < 2; ++i) {
    const TrustRegions::Question question = regions_.Next(history_, random_);
    bests.push_back(question.best);
    const space::Configuration& centre = question.best == 1 ? best : far;
    ASSERT_FALSE(question.candidates.empty());
    for (const space::Configuration& c : question.candidates) {
      EXPECT_TRUE(history_.space().Contains(c));
      EXPECT_FALSE(history_.Knows(c));
      EXPECT_LE(Steps(c, centre), 2);
    }
  }
  EXPECT_EQ(bests, (std::vector<double>{1, 3}));
}

TEST_F(TrustRegionsTest, FollowWhatIsBetterAndEndAfterFailures) {
  Record({{3, 3, 3, 3}}, 10);
  TrustRegions::Question question = regions_.Next(history_, random_);
  const space::Configuration better = question.candidates.front();
  regions_.Ask(better, question.region);
  Record(better, 5);
  bool is_followed = false;
  for (int i = 0; i < 3; ++i) {
    question = regions_.Next(history_, random_);
    is_followed = is_followed || question.best == 5;
  }
  EXPECT_TRUE(is_followed);

  const int region = question.region;
  double worst = 100;
  int failures = 0;
  while (question.best == 5 && failures < 100) {  // the third one is this region's turn again
    for (const space::Configuration& c : question.candidates) {
      if (history_.Knows(c)) continue;
      regions_.Ask(c, region);
      Record(c, worst++);
      ++failures;
      break;
    }
    for (int i = 0; i < 3; ++i) question = regions_.Next(history_, random_);
    ASSERT_EQ(question.region, region);
  }
  // Three steps left, as many failures each as there are parameters; fewer where nothing is left.
  EXPECT_LE(failures, 3 * 4);
  EXPECT_GT(failures, 2 * 4);
}

}  // namespace
}  // namespace bayloom::optimizer
