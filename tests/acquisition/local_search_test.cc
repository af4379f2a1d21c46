// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/acquisition/local_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bayloom/space/parameter.h"

namespace bayloom::acquisition {
namespace {

std::shared_ptr<const space::Space> Grid() {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("x", 0, 20));
  builder.Add(space::MakeInteger("y", 0, 20));
  return *builder.Build();
}

/// A hill at (13, 4), and a lower one at (2, 18).
double Height(const space::Configuration& c) {
  const auto hill = [&](double x, double y) {
    const double dx = c.coordinates[0] - x, dy = c.coordinates[1] - y;
    return -dx * dx - dy * dy;
  };
  return std::max(hill(13, 4), hill(2, 18) - 5);
}

class LocalSearchTest : public testing::Test {
 protected:
  Suggestion Climb(const std::vector<space::Configuration>& starts,
                   const std::function<bool(const space::Configuration&)>& excluded) {
    const auto utility = [&](std::span<const space::Configuration> configurations,
                             std::span<double> utilities) {
      ++calls_;
      for (size_t i = 0; i < utilities.size(); ++i) utilities[i] = Height(configurations[i]);
    };
    return ClimbToBest(*space_, utility, starts, excluded, 100, random_);
  }

  const std::shared_ptr<const space::Space> space_ = Grid();
  base::RandomStream random_{1};
  int calls_ = 0;
};

TEST_F(LocalSearchTest, ClimbsToTheTopAllTogether) {
  const Suggestion best = Climb({{{0, 0}}, {{20, 20}}, {{0, 20}}}, [](auto&) { return false; });
  EXPECT_EQ(best.configuration, (space::Configuration{{13, 4}}));
  EXPECT_EQ(best.utility, 0);
  EXPECT_LE(calls_, 25);  // a step scores the neighbours of all climbs at once
}

TEST_F(LocalSearchTest, StaysOnTheHillWhereItStarts) {
  const Suggestion best = Climb({{{0, 20}}}, [](auto&) { return false; });
  EXPECT_EQ(best.configuration, (space::Configuration{{2, 18}}));
}

TEST_F(LocalSearchTest, PassesThroughWhatIsExcludedAndSuggestsItsNeighbour) {
  const auto excluded = [](const space::Configuration& c) { return Height(c) >= -2; };
  const Suggestion best = Climb({{{0, 0}}}, excluded);
  ASSERT_TRUE(best.exists());
  EXPECT_EQ(best.utility, -4);
}

TEST_F(LocalSearchTest, SuggestsNothingWhereEverythingIsExcluded) {
  EXPECT_FALSE(Climb({{{0, 0}}}, [](auto&) { return true; }).exists());
  EXPECT_FALSE(Climb({}, [](auto&) { return false; }).exists());
}

TEST_F(LocalSearchTest, LooksOnlyAtWhatStandsForOthers) {
  // Odd rows mean the same as the even ones before them.
  const auto canonical = [](const space::Configuration& c) {
    return space::Configuration{
        {c.coordinates[0] - std::fmod(c.coordinates[0], 2), c.coordinates[1]}};
  };
  bool all_even = true;
  const auto utility = [&](std::span<const space::Configuration> configurations,
                           std::span<double> utilities) {
    for (size_t i = 0; i < utilities.size(); ++i) {
      all_even = all_even && std::fmod(configurations[i].coordinates[0], 2) == 0;
      utilities[i] = Height(configurations[i]);
    }
  };
  const std::vector<space::Configuration> starts = {{{12, 0}}};
  const Suggestion best = ClimbToBest(
      *space_, utility, starts, [](auto&) { return false; }, 100, random_, canonical);
  EXPECT_EQ(best.configuration, (space::Configuration{{12, 4}}));
  EXPECT_TRUE(all_even);
}

/// A climb ends only where no parameter makes it rise, however many there are.
TEST_F(LocalSearchTest, ReachesTheTopOfHundredsOfParametersAFewAtATime) {
  constexpr int kFlags = 300;
  space::Space::Builder builder;
  for (int i = 0; i < kFlags; ++i) {
    builder.Add(space::MakeCategorical("flag" + std::to_string(i), {"off", "on"}));
  }
  const auto space = *builder.Build();
  size_t most = 0, scored = 0;
  const auto utility = [&](std::span<const space::Configuration> configurations,
                           std::span<double> utilities) {
    most = std::max(most, configurations.size());
    scored += configurations.size();
    for (size_t i = 0; i < utilities.size(); ++i) {
      utilities[i] = 0;
      for (int p = 0; p < kFlags; ++p) {  // a fifth of them should stay off
        utilities[i] += (p % 5 == 0 ? -1 : 1) * configurations[i].coordinates[p];
      }
    }
  };
  const std::vector<space::Configuration> starts = {{std::vector<double>(kFlags, 0)}};
  const Suggestion best = ClimbToBest(
      *space, utility, starts, [](auto&) { return false; }, 10 * kFlags, random_);
  EXPECT_EQ(best.utility, kFlags - kFlags / 5);
  EXPECT_LE(most, 32);
  EXPECT_LE(scored, size_t{32} * (kFlags + 10));
}

}  // namespace
}  // namespace bayloom::acquisition
