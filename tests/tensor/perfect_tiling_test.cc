// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include "bayloom/tensor/trace.h"

namespace bayloom::tensor {
namespace {

using ::testing::ElementsAre;
using Tiling = std::vector<int64_t>;

TEST(PerfectTilingTest, CountsOfTheFactSheet) {
  EXPECT_EQ(CountPerfectTilings(1024, 4, 1024), 286);
  EXPECT_EQ(CountPerfectTilings(1024, 4, 64), 266);
  EXPECT_EQ(CountPerfectTilings(1, 3, 64), 1);
  EXPECT_EQ(CountPerfectTilings(127, 2, 64), 1);
  EXPECT_EQ(CountPerfectTilings(127, 1, 64), 0);
  EXPECT_EQ(CountPerfectTilings(7, 1, 64), 1);
}

TEST(PerfectTilingTest, ListsAllOrderedFactorizationsOnceSorted) {
  for (int64_t extent : {1, 2, 12, 30, 49, 64, 97, 360}) {
    for (int parts : {1, 2, 3, 4}) {
      for (int64_t limit : {1, 6, 64}) {
        const std::vector<Tiling>& tilings = PerfectTilings(extent, parts, limit);
        EXPECT_EQ(static_cast<int64_t>(tilings.size()), CountPerfectTilings(extent, parts, limit));
        EXPECT_EQ(&tilings, &PerfectTilings(extent, parts, limit));  // cached
        for (size_t i = 0; i < tilings.size(); ++i) {
          EXPECT_TRUE(i == 0 || tilings[i - 1] < tilings[i]);
          EXPECT_EQ(static_cast<int>(tilings[i].size()), parts);
          EXPECT_LE(tilings[i].back(), limit);
          EXPECT_EQ(std::accumulate(tilings[i].begin(), tilings[i].end(), int64_t{1},
                                    std::multiplies<>()),
                    extent);
        }
      }
    }
  }
}

TEST(PerfectTilingTest, CacheIsSharedByThreads) {
  std::vector<std::thread> threads;
  std::vector<const std::vector<Tiling>*> lists(8);
  for (size_t t = 0; t < lists.size(); ++t) {
    threads.emplace_back([&, t] { lists[t] = &PerfectTilings(720, 4, 48); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto* list : lists) EXPECT_EQ(list, lists[0]);
}

/// Pearson's statistic over all tilings stays below its mean by seven standard deviations.
TEST(PerfectTilingTest, SamplingIsUniform) {
  base::RandomStream random(5);
  for (const auto& [extent, parts, limit] : {std::tuple{72, 3, 8}, {64, 4, 4}, {210, 2, 21}}) {
    const std::vector<Tiling>& tilings = PerfectTilings(extent, parts, limit);
    std::map<Tiling, int> counts;
    const int draws = 400 * static_cast<int>(tilings.size());
    for (int i = 0; i < draws; ++i) ++counts[*SamplePerfectTiling(extent, parts, limit, random)];
    ASSERT_EQ(counts.size(), tilings.size());
    double statistic = 0;
    for (const auto& [tiling, count] : counts) statistic += (count - 400) * (count - 400) / 400.0;
    const double freedom = static_cast<double>(tilings.size()) - 1;
    EXPECT_LT(statistic, freedom + 7 * std::sqrt(2 * freedom));
  }
}

TEST(PerfectTilingTest, NothingToSample) {
  base::RandomStream random(5);
  EXPECT_FALSE(SamplePerfectTiling(127, 1, 64, random));
  EXPECT_THAT(*SamplePerfectTiling(127, 2, 64, random), ElementsAre(127, 1));
  EXPECT_THAT(*SamplePerfectTiling(1, 3, 64, random), ElementsAre(1, 1, 1));
}

TEST(PerfectTilingTest, RepairKeepsInnerFactorsWhileTheyDivide) {
  EXPECT_THAT(RepairTiling(48, {2, 3, 4}, 64), ElementsAre(4, 3, 4));
  EXPECT_THAT(RepairTiling(20, {1, 3, 4}, 64), ElementsAre(1, 5, 4));   // 3 takes the rest
  EXPECT_THAT(RepairTiling(20, {7, 2, 3}, 64), ElementsAre(1, 1, 20));  // 3 takes all
  EXPECT_THAT(RepairTiling(20, {1, 0, 4}, 64), ElementsAre(1, 5, 4));
  EXPECT_THAT(RepairTiling(20, {9}, 64), ElementsAre(20));
}

TEST(PerfectTilingTest, RepairKeepsTheInnermostFactorWithinItsMaximum) {
  EXPECT_THAT(RepairTiling(23, {7, 2}, 16), ElementsAre(23, 1));
  EXPECT_THAT(RepairTiling(46, {7, 4}, 16), ElementsAre(23, 2));
  EXPECT_THAT(RepairTiling(48, {1, 2, 5}, 16), ElementsAre(1, 3, 16));  // 2 does not divide 3
  EXPECT_THAT(RepairTiling(96, {1, 2, 5}, 16), ElementsAre(3, 2, 16));
  EXPECT_THAT(RepairTiling(69, {2, 23}, 16), ElementsAre(23, 3));  // a factor beyond it, elsewhere
  EXPECT_THAT(RepairTiling(23, {9}, 16), ElementsAre(23));         // one part is all there is
}

/// Traces of programs that were measured are replayed as they are.
TEST(PerfectTilingTest, RepairChangesNothingThatFits) {
  EXPECT_THAT(RepairTiling(23, {1, 23}, 16), ElementsAre(1, 23));
  for (int64_t extent : {1, 12, 30, 64, 97}) {
    for (const Tiling& tiling : PerfectTilings(extent, 3, extent)) {
      EXPECT_EQ(RepairTiling(extent, tiling, 4), tiling);
    }
  }
}

TEST(PerfectTilingTest, WhatIsRepairedIsALegalTilingOfTheExtent) {
  base::RandomStream random(7);
  for (int i = 0; i < 2000; ++i) {
    const int64_t extent = 1 + random.UniformInt(300), limit = 1 + random.UniformInt(32);
    const int parts = 2 + static_cast<int>(random.UniformInt(3));
    const Tiling wanted = *SamplePerfectTiling(1 + random.UniformInt(300), parts, limit, random);
    const Tiling repaired = RepairTiling(extent, wanted, limit);
    EXPECT_THAT(PerfectTilings(extent, parts, limit), ::testing::Contains(repaired));
  }
}

}  // namespace
}  // namespace bayloom::tensor
