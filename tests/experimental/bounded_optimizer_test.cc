// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/strategy/bounded_optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "bayloom/experimental/strategy/domain_reduction.h"
#include "bayloom/strategy/fresh_samples.h"
#include "tests/strategy/search_fixture.h"

namespace bayloom::experimental {
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

/// Suggestions come near the best tiles of a made-up score, though trials are forgotten on the way.
TEST_P(BoundedOptimizerTest, FindsHighScoresWithALimitedMemory) {
  base::ThreadPool pool(1);
  base::RandomStream random(3);
  const sketch::SpaceGenerator generator(tensor::MatmulWorkload(64, 64, 64),
                                         strategy::SimulatedTarget());
  const strategy::CandidatePtr start = strategy::DrawFresh(generator, 8, random, pool)[0];
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
  Rocke2024Options options;
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
                         testing::Combine(testing::Values(Eviction::kReset, Eviction::kMinRecent),
                                          testing::Bool()));

}  // namespace
}  // namespace bayloom::experimental
