// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/strategy/internal/bayes/bounded_optimizer.h"
#include "bayloom/strategy/internal/bayes/domain_reduction.h"
#include "bayloom/strategy/internal/bayes/task_model.h"
#include "tests/strategy/search_fixture.h"

namespace bayloom::strategy {
namespace {

std::shared_ptr<const space::Space> Grid() {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("x", 0, 100));
  builder.Add(space::MakeInteger("y", 0, 0));
  return *builder.Build();
}

TEST(DomainReductionTest, ClosesInOnAnOptimumThatStays) {
  DomainReduction reduction(*Grid());
  EXPECT_EQ(reduction.windows()[0].least, 0);
  EXPECT_EQ(reduction.windows()[0].most, 100);
  // The first move, from the middle to 80, is 0.6 of half a window: 0.9 + 0.6 * (0.85 - 0.9).
  reduction.Update({{80, 0}});
  EXPECT_NEAR(reduction.windows()[0].least, 80 - 43.5, 1e-9);
  EXPECT_EQ(reduction.windows()[0].most, 100);
  for (int i = 0; i < 60; ++i) reduction.Update({{80, 0}});
  EXPECT_EQ(reduction.windows()[0].least, 79);
  EXPECT_EQ(reduction.windows()[0].most, 81);
  EXPECT_EQ(reduction.windows()[1].most, 0);
}

class BoundedOptimizerTest : public testing::TestWithParam<std::tuple<Eviction, bool>> {};

/// Suggestions come near the best tiles of a made-up score, whatever is forgotten on the way.
TEST_P(BoundedOptimizerTest, FindsHighScoresWithALimitedMemory) {
  base::ThreadPool pool(1);
  base::RandomStream random(3);
  const sketch::SpaceGenerator generator(tensor::MatmulWorkload(64, 64, 64), SimulatedTarget());
  const CandidatePtr start = DrawFresh(generator, 8, random, pool)[0];
  const DecisionSpace decisions(start->trace, TilingEncoding::kIndex);
  const std::shared_ptr<const space::Space> space = decisions.space();
  const auto score = [&](const space::Configuration& c) {
    double distance = 0;
    for (int i = 0; i < space->size(); ++i) {
      const double last = static_cast<double>(space->parameter(i).Cardinality() - 1);
      if (last > 0) distance += std::pow(c.coordinates[static_cast<size_t>(i)] / last - 0.7, 2);
    }
    return std::exp(-3 * distance);
  };
  ThesisOptions options;
  options.memory_limit = 24;
  std::tie(options.eviction, options.reduce_domain) = GetParam();
  BoundedOptimizer optimizer(decisions, options, 1);
  const space::Configuration input = *decisions.Encode(start->trace);
  optimizer.RegisterInput(input, score(input));
  double best = 0;
  for (int i = 0; i < 60; ++i) {
    const std::optional<space::Configuration> suggested = optimizer.Suggest();
    ASSERT_TRUE(suggested);
    ASSERT_TRUE(space->Contains(*suggested));
    const double found = score(*suggested);
    best = std::max(best, found);
    optimizer.Register(*suggested, i % 10 == 9 ? std::nullopt : std::optional(found));
    if (i % 15 == 14) optimizer.EndInput();
  }
  EXPECT_GT(best, 0.8);
}

INSTANTIATE_TEST_SUITE_P(Policies, BoundedOptimizerTest,
                         testing::Combine(testing::Values(Eviction::kReset, Eviction::kLeastRecent),
                                          testing::Bool()));

TEST(TaskModelTest, RanksUnseenProgramsAndDoubtsWhatItDidNotSee) {
  base::ThreadPool pool(1);
  base::RandomStream random(3);
  const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
  HashSet known;
  const std::vector<CandidatePtr> programs = DrawUnknown(generator, 160, known, random, pool);
  std::vector<Rated> rated;
  for (const CandidatePtr& program : programs) {
    rated.push_back({1 / SimulatedMachine::Run(program->program), program});
  }
  std::sort(rated.begin(), rated.begin() + 120,
            [](const Rated& a, const Rated& b) { return a.rating > b.rating; });
  const DecisionRows rows(generator);
  const std::vector<double> nothing_expected(120, 0.0);
  TaskModel model(rows, std::span(rated).first(120), nothing_expected, random);
  const Beliefs beliefs = model.Predict(std::span(programs).subspan(120));
  int right = 0, pairs = 0;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < i; ++j) {
      ++pairs;
      right += (beliefs.mean[i] < beliefs.mean[j]) == (rated[static_cast<size_t>(120 + i)].rating <
                                                       rated[static_cast<size_t>(120 + j)].rating);
    }
  }
  EXPECT_GT(right, pairs * 2 / 3);
  EXPECT_LT(model.Predict({&programs[0], 1}).deviation[0], beliefs.deviation.mean());

  const double before = beliefs.deviation[0];
  model.Believe(programs[120]);
  EXPECT_LT(model.Predict({&programs[120], 1}).deviation[0], before);
}

TEST(TaskModelTest, PredictsByHowMuchProgramsDifferFromWhatWasExpected) {
  base::ThreadPool pool(1);
  base::RandomStream random(3);
  const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
  HashSet known;
  const std::vector<CandidatePtr> programs = DrawUnknown(generator, 60, known, random, pool);
  std::vector<Rated> rated;
  std::vector<double> expected;
  for (const CandidatePtr& program : programs) {
    rated.push_back({1 / SimulatedMachine::Run(program->program), program});
  }
  KeepBest(rated, rated.size());
  for (const Rated& one : rated) expected.push_back(one.rating / rated.front().rating - 0.25);
  const DecisionRows rows(generator);
  const TaskModel model(rows, rated, expected, random);
  const Beliefs beliefs = model.Predict(programs);
  EXPECT_NEAR(beliefs.mean.minCoeff(), 0.25, 1e-6);
  EXPECT_NEAR(beliefs.mean.maxCoeff(), 0.25, 1e-6);
}

}  // namespace
}  // namespace bayloom::strategy
