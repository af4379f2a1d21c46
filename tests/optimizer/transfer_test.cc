// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/transfer.h"

#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/optimizer/internal/features.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/optimizer/sensitivity.h"
#include "tests/optimizer/similar_tasks.h"

namespace bayloom::optimizer {
namespace {

TEST(PredictBest, FollowsTheDescription) {
  const auto space = Sizes(100);
  const Features features(space);
  TransferOptions options;
  options.tasks = {Observed(space, 20, 5), Observed(space, 60, 5)};
  options.description = {40};
  base::RandomStream random(1);
  const std::optional<space::Configuration> expected =
      PredictBest(features, *space, options, random);
  ASSERT_TRUE(expected.has_value());
  EXPECT_NEAR(expected->coordinates[0], 39, 3);
  EXPECT_NEAR(expected->coordinates[1], 39, 3);
  options.tasks.clear();
  EXPECT_FALSE(PredictBest(features, *space, options, random).has_value());
}

TEST(Transfer, NeedsFewTrialsWhereTasksAreAlike) {
  for (const std::string& method : TransferMethods().Names()) ExpectFewTrialsNeeded(method);
}

TEST(Transfer, RefusesUnknownMethods) {
  const auto space = Sizes(100);
  OptimizerOptions options;
  options.transfer.tasks = {Observed(space, 40, 10)};
  options.transfer.method = "stacking";
  try {
    MakeOptimizer("bayesian", space, options);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown transfer method 'stacking'; known are contextual, multitask, weighted");
  }
}

TEST(Transfer, ParametersThatOthersDoNotHaveDoNoHarm) {
  const auto space = Sizes(30);
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("size", 1, 50));
  builder.Add(space::MakeCategorical("kind", {"a", "b"}));
  OptimizerOptions options;
  EarlierTask task{"other", *builder.Build(), {}, {}, {}};
  base::RandomStream random(1);
  for (int i = 0; i < 10; ++i) {
    task.configurations.push_back(*task.space->Sample(random));
    task.values.push_back(1 + i);
  }
  options.transfer.tasks = {task};
  const auto optimizer = MakeOptimizer("bayesian", space, options);
  for (int i = 0; i < 8; ++i) {
    const std::vector<space::Configuration> asked = optimizer->Ask(1);
    ASSERT_EQ(asked.size(), 1u);
    ASSERT_TRUE(space->Contains(asked[0]));
    trial::Outcome outcome;
    outcome.value = Bowl(asked[0], 10);
    optimizer->Tell(asked[0], outcome);
  }
}

TEST(Sensitivity, RanksParametersByWhatTheyChange) {
  const auto space = Sizes(100);
  base::RandomStream random(1);
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
  for (int i = 0; i < 150; ++i) {
    configurations.push_back(*space->Sample(random));
    values.push_back(2 * configurations[i].coordinates[1] + configurations[i].coordinates[0] - 400);
  }
  const std::vector<ParameterSensitivity> ranking =
      RankParameters(space, configurations, values, random);
  ASSERT_EQ(ranking.size(), 3u);
  EXPECT_EQ(ranking[0].parameter, 1);
  EXPECT_EQ(ranking[1].parameter, 0);
  // Of a sum, variances add up: 4 to 1.
  EXPECT_NEAR(ranking[0].index.total.value, 0.8, 0.1);
  EXPECT_NEAR(ranking[0].index.first.value, 0.8, 0.1);
  EXPECT_NEAR(ranking[1].index.total.value, 0.2, 0.1);
  EXPECT_NEAR(ranking[2].index.total.value, 0, 0.02);

  const auto two = Subspace(space, std::vector<int>{0, 2});
  EXPECT_EQ(two->size(), 2);
  EXPECT_EQ(two->parameter(1).name(), "idle");
  EXPECT_EQ(two->CountFeasible(), 10000);
}

}  // namespace
}  // namespace bayloom::optimizer
