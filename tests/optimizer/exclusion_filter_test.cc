// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {
namespace {

std::shared_ptr<const space::Space> Grid(int64_t side) {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("x", 1, side));
  builder.Add(space::MakeInteger("y", 1, side));
  return *builder.Build();
}

double Number(const space::Space& space, const space::Configuration& configuration, int parameter) {
  return static_cast<double>(std::get<int64_t>(space.ValueOf(configuration, parameter)));
}

/// Products above 12, which two thirds of a grid of 9 x 9 are.
OptimizerOptions WithSmallProducts(const space::Space& space) {
  OptimizerOptions options;
  options.excludes = [&space](const space::Configuration& configuration) {
    return Number(space, configuration, 0) * Number(space, configuration, 1) > 12;
  };
  return options;
}

TEST(ExclusionFilter, EveryOptimizerTriesAllThatIsNotExcludedAndNothingElse) {
  const auto space = Grid(9);
  for (const std::string& name : Optimizers().Names()) {
    const auto optimizer = MakeOptimizer(name, space, WithSmallProducts(*space));
    std::set<std::string> tried;
    while (true) {
      const std::vector<space::Configuration> asked = optimizer->Ask(3);
      for (const space::Configuration& configuration : asked) {
        const double x = Number(*space, configuration, 0), y = Number(*space, configuration, 1);
        EXPECT_LE(x * y, 12) << name;
        EXPECT_TRUE(tried.insert(space->ToString(configuration)).second) << name;
        optimizer->Tell(configuration, trial::Outcome::Feasible((x - 3) * (x - 3) + y));
      }
      if (asked.size() < 3) break;
    }
    EXPECT_EQ(tried.size(), 29u) << name;
  }
}

TEST(ExclusionFilter, GivesUpWhereEverythingIsExcluded) {
  const auto space = Grid(1'000'000);
  OptimizerOptions options;
  options.excludes = [](const space::Configuration&) { return true; };
  const auto optimizer = MakeOptimizer("random", space, options);
  EXPECT_TRUE(optimizer->Ask(2).empty());
  EXPECT_TRUE(optimizer->gave_up());
}

}  // namespace
}  // namespace bayloom::optimizer
