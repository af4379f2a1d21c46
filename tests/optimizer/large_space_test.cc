// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Many parameters, half of them conditional: from 1e28 to 1e180 configurations.

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

#include "bayloom/optimizer/optimizer.h"
#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

std::shared_ptr<const space::Space> Flags(int flags) {
  space::Space::Builder builder;
  for (int i = 0; i < flags; ++i) {
    const std::string flag = "f" + std::to_string(i);
    builder.Add(space::MakeCategorical(flag, {"off", "on"}));
    if (i % 2 == 0) continue;
    const std::string limit = "n" + std::to_string(i);
    builder.Add(space::MakeInteger(limit, 1, 1000, space::Scale::kLog));
    EXPECT_TRUE(builder.AddCondition(limit, flag + " == 'on'").ok());
  }
  return *builder.Build();
}

/// Every flag that is on helps or harms a little, more for some than for others.
trial::Outcome SumOf(const space::Configuration& configuration) {
  double sum = 100;
  for (size_t i = 0; i < configuration.coordinates.size(); ++i) {
    sum += configuration.coordinates[i] / static_cast<double>(1 + i) * (i % 5 == 0 ? 1 : -1);
  }
  return trial::Outcome::Feasible(sum);
}

/// Each takes seconds; what grows faster with the space or the trials would not end before the
/// time limit of tests.
class LargeSpace : public testing::TestWithParam<std::string> {};

TEST_P(LargeSpace, AsksForLargeBatchesWithoutLoss) {
  // A suggestion of a model climbs over all neighbours, which takes time with the square of the
  // parameters at least.
  const bool has_model =
      GetParam() == "bayesian" || GetParam() == "forest" || GetParam() == "portfolio";
  const auto space = Flags(has_model ? 16 : 200);
  const auto optimizer = MakeOptimizer(GetParam(), space, {.seed = 1});
  std::unordered_set<space::Configuration> met;
  for (int batch = 0; batch < 2; ++batch) {
    const std::vector<space::Configuration> asked = optimizer->Ask(64);
    ASSERT_EQ(asked.size(), 64u);
    for (const space::Configuration& c : asked) {
      EXPECT_TRUE(space->Contains(c));
      EXPECT_TRUE(met.insert(c).second);
    }
    for (const space::Configuration& c : asked) optimizer->Tell(c, SumOf(c));
  }
  EXPECT_FALSE(optimizer->gave_up());
}

TEST_P(LargeSpace, GoesOnAfterTensOfThousandsOfTrials) {
  constexpr int kTold = 20'000;
  const auto space = Flags(20);
  const auto optimizer = MakeOptimizer(GetParam(), space, {.seed = 1});
  base::RandomStream random(2);
  for (int i = 0; i < kTold; ++i) {
    const space::Configuration c = *space->Sample(random);
    optimizer->Tell(c, SumOf(c));
  }
  for (int i = 0; i < 3; ++i) {
    const std::vector<space::Configuration> asked = optimizer->Ask(1);
    ASSERT_EQ(asked.size(), 1u);
    optimizer->Tell(asked[0], SumOf(asked[0]));
  }
}

INSTANTIATE_TEST_SUITE_P(All, LargeSpace, testing::ValuesIn(Optimizers().Names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace bayloom::optimizer
