// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/optimizer/bayes/features.h"
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
    EXPECT_STREQ(
        error.what(),
        "unknown transfer method 'stacking'; known are contextual, multitask, prior, weighted");
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

/// The first `trials` choices of a search for Bowl(45) with these tasks.
std::vector<space::Configuration> Choices(const std::shared_ptr<const space::Space>& space,
                                          std::vector<EarlierTask> tasks, int trials) {
  OptimizerOptions options;
  options.seed = 3;
  options.transfer.method = "prior";
  options.transfer.beginnings = 5;
  options.transfer.tasks = std::move(tasks);
  const auto optimizer = MakeOptimizer("bayesian", space, options);
  std::vector<space::Configuration> choices;
  for (int i = 0; i < trials; ++i) {
    for (const space::Configuration& c : optimizer->Ask(1)) {
      choices.push_back(c);
      optimizer->Tell(c, trial::Outcome::Feasible(Bowl(c, 45)));
    }
  }
  return choices;
}

double Best(const std::vector<space::Configuration>& choices) {
  double best = std::numeric_limits<double>::infinity();
  for (const space::Configuration& c : choices) best = std::min(best, Bowl(c, 45));
  return best;
}

TEST(TransferByRanks, ChoosesTheSameWhateverTheOrderOfTasks) {
  const auto space = Sizes(100);
  const EarlierTask a = Observed(space, 40, 30), b = Observed(space, 50, 30),
                    c = Observed(space, 90, 20);
  const std::vector<space::Configuration> choices = Choices(space, {a, b, c}, 12);
  EXPECT_EQ(choices, Choices(space, {a, b, c}, 12));
  EXPECT_EQ(choices, Choices(space, {c, a, b}, 12));
  EXPECT_EQ(choices, Choices(space, {b, c, a}, 12));
}

TEST(TransferByRanks, ValuesOfAnotherUnitTeachTheSame) {
  const auto space = Sizes(100);
  const EarlierTask task = Observed(space, 40, 30);
  EarlierTask scaled = task;
  for (double& value : scaled.values) value = 1e-6 * value * value;
  EXPECT_EQ(Choices(space, {task}, 10), Choices(space, {scaled}, 10));
}

TEST(TransferByRanks, BeginsWithWhatAllTasksRankFirstThenWithTheBestOfEach) {
  const auto space = Sizes(100);
  std::vector<EarlierTask> tasks = {Observed(space, 40, 30), Observed(space, 50, 30)};
  tasks[0].configurations.push_back(tasks[1].configurations.back());
  tasks[0].values.push_back(Bowl(tasks[0].configurations.back(), 40));
  tasks[1].configurations = tasks[0].configurations;
  tasks[1].values.clear();
  for (const space::Configuration& c : tasks[1].configurations) {
    tasks[1].values.push_back(Bowl(c, 50));
  }
  EXPECT_EQ(BestOfEarlier(*space, {tasks[0]}, 5)[0].coordinates, (std::vector<double>{39, 39, 0}));
  EXPECT_EQ(BestOfEarlier(*space, tasks, 1).size(), 1u);
  const std::vector<space::Configuration> beginnings = BestOfEarlier(*space, tasks, 5);
  ASSERT_EQ(beginnings.size(), 5u);
  // Tried by both, and better than most of what either did.
  for (const EarlierTask& task : tasks) {
    const auto found = std::ranges::find(task.configurations, beginnings[0]);
    ASSERT_NE(found, task.configurations.end());
    const double value = task.values[static_cast<size_t>(found - task.configurations.begin())];
    EXPECT_LT(std::ranges::count_if(task.values, [&](double other) { return other < value; }), 6);
  }
  for (size_t i = 0; i < beginnings.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      int differences = 0;
      for (size_t k = 0; k < 3; ++k) {
        differences += beginnings[i].coordinates[k] != beginnings[j].coordinates[k];
      }
      EXPECT_GE(differences, 2);
    }
  }
  EXPECT_TRUE(BestOfEarlier(*space, {}, 5).empty());
}

TEST(TransferByRanks, FindsOutAWrongTask) {
  const auto space = Sizes(100);
  EarlierTask reversed = Observed(space, 45, 200);
  for (double& value : reversed.values) value = -value;
  const double without = Best(Choices(space, {}, 40));
  EXPECT_LT(Best(Choices(space, {reversed}, 45)), std::max(without, 1.0) + 5);
  EXPECT_LT(Best(Choices(space, {Observed(space, 45, 200)}, 1)), 1.5);
}

TEST(TransferNoise, IsTakenOutBeforeAnythingIsTried) {
  const auto space = Sizes(100);
  const EarlierTask task = Observed(space, 45, 100);
  EarlierTask noise = Observed(space, 60, 400);
  noise.name = "noise";
  base::RandomStream random(1);
  random.Shuffle(noise.values);
  EXPECT_GT(ProbabilityOfLearnable(task), 0.99);
  EXPECT_LT(ProbabilityOfLearnable(noise), 0.01);
  // Few trials prove nothing; many that are equal say nothing.
  EXPECT_NEAR(ProbabilityOfLearnable(Observed(space, 45, 0)), 0.9, 1e-9);
  EarlierTask constant = task;
  std::ranges::fill(constant.values, 1.0);
  EXPECT_LT(ProbabilityOfLearnable(constant), 0.5);

  OptimizerOptions options;
  options.transfer.tasks = {noise, task};
  EXPECT_THAT(MakeOptimizer("bayesian", space, options)->TakeNotices(),
              testing::ElementsAre(testing::StartsWith("noise: left out")));
  TakeOutNoise(options.transfer);
  EXPECT_EQ(options.transfer.left_out, std::vector<std::string>{"noise"});
  ASSERT_EQ(options.transfer.tasks.size(), 1u);
  EXPECT_EQ(options.transfer.tasks[0].name, "bowl");
  // Choices are those of a search that never heard of it.
  EXPECT_EQ(Choices(space, {noise}, 15), Choices(space, {}, 15));
  EXPECT_EQ(Choices(space, {task, noise}, 15), Choices(space, {task}, 15));
}

TEST(TransferByRanks, FailuresAreHintsOnly) {
  const auto space = Sizes(100);
  EarlierTask task = Observed(space, 40, 40);
  // All that is near the optimum failed elsewhere.
  EarlierTask failed = task;
  failed.configurations.clear();
  failed.values.clear();
  for (size_t i = 0; i < task.values.size(); ++i) {
    if (Bowl(task.configurations[i], 45) < 300) {
      failed.failures.push_back(task.configurations[i]);
    } else {
      failed.configurations.push_back(task.configurations[i]);
      failed.values.push_back(task.values[i]);
    }
  }
  ASSERT_FALSE(failed.failures.empty());
  const std::vector<space::Configuration> choices = Choices(space, {failed}, 50);
  EXPECT_TRUE(std::ranges::find(failed.failures, choices[0]) == failed.failures.end());
  EXPECT_LT(Best(choices), 150);  // nevertheless looked at
}

TEST(Translate, MatchesParametersByName) {
  space::Space::Builder from_builder, to_builder;
  from_builder.Add(space::MakeOrdinal("tile", {4, 8, 16}));
  from_builder.Add(space::MakeInteger("gone", 1, 3));
  const std::shared_ptr<const space::Space> from = *from_builder.Build();
  to_builder.Add(space::MakeInteger("unroll", 1, 8));
  to_builder.Add(space::MakeOrdinal("tile", {8, 16, 32}));
  const std::shared_ptr<const space::Space> to = *to_builder.Build();
  const std::optional<space::Configuration> there = Translate(*from, {{2, 0}}, *to);
  ASSERT_TRUE(there.has_value());
  EXPECT_EQ(there->coordinates, (std::vector<double>{0, 1}));
  EXPECT_FALSE(Translate(*from, {{0, 0}}, *to).has_value());  // a tile of 4
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
