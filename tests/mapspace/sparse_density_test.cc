// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/sparse/density_model.h"

namespace bayloom::mapspace {
namespace {

/// How often the first `tile` words of all sets of `nonzeros` words of `words` hold so many.
std::map<int, double> Enumerate(int words, int nonzeros, int tile) {
  std::map<int, double> counts;
  double all = 0;
  for (uint32_t set = 0; set < (1u << words); ++set) {
    if (std::popcount(set) != nonzeros) continue;
    ++counts[std::popcount(set & ((1u << tile) - 1))];
    ++all;
  }
  for (auto& [occupancy, count] : counts) count /= all;
  return counts;
}

void ExpectDistribution(const DensityModel& model, int tile, std::map<int, double> expected) {
  double mean = 0;
  for (int k = 0; k <= tile; ++k) {
    EXPECT_NEAR(model.Probability(tile, k), expected[k], 1e-12) << tile << " words, " << k;
    mean += k * expected[k];
  }
  EXPECT_NEAR(model.ExpectedOccupancy(tile), mean, 1e-12);
  std::erase_if(expected, [](const auto& entry) { return entry.second == 0; });
  EXPECT_EQ(model.MinOccupancy(tile), expected.begin()->first);
  EXPECT_EQ(model.MaxOccupancy(tile), expected.rbegin()->first);
}

TEST(Density, HypergeometricIsWhatAllSetsOfNonzerosSay) {
  for (const int nonzeros : {1, 3, 7, 12}) {
    const DensityModel model(MakeDensity("hypergeometric", nonzeros / 12.0 - 1e-12), 12);
    for (int tile = 1; tile <= 12; ++tile) {
      ExpectDistribution(model, tile, Enumerate(12, nonzeros, tile));
    }
  }
}

TEST(Density, BlocksHoldTheirShareWhereverItIs) {
  const DensityModel model(ParseDensity("2:4"), 64);
  for (const int tile : {1, 2, 3, 4}) ExpectDistribution(model, tile, Enumerate(4, 2, tile));
  EXPECT_EQ(model.Probability(8, 4), 1);
  EXPECT_EQ(model.EmptyProbability(5), 0);
  EXPECT_NEAR(model.Probability(6, 2), 1.0 / 6, 1e-12);  // a block, and two words without any
}

TEST(Density, FixedStructuredTilesHaveTheirShareRounded) {
  const DensityModel model(MakeDensity("fixed_structured", 0.3), 100);
  EXPECT_NEAR(model.EmptyProbability(1), 0.7, 1e-12);
  EXPECT_NEAR(model.Probability(5, 1), 0.5, 1e-12);
  EXPECT_NEAR(model.Probability(5, 2), 0.5, 1e-12);
  EXPECT_EQ(model.Probability(10, 3), 1);
  EXPECT_EQ(model.MaxOccupancy(11), 4);
}

TEST(Density, PartsOfAKnownTileMakeUpTheWhole) {
  // P(empty) = sum over k of P(tile holds k) P(part empty given k).
  const DensityModel model(MakeDensity("hypergeometric", 0.2), 1000);
  double empty = 0;
  for (const OccupancyPoint& point : model.Occupancies(40)) {
    empty += point.probability * model.Given(40, point.occupancy).EmptyProbability(5);
  }
  EXPECT_NEAR(empty, model.EmptyProbability(5), 1e-9);
}

TEST(Density, ManyOccupanciesAreRepresentedByFew) {
  const DensityModel model(MakeDensity("hypergeometric", 0.37), 1'000'000);
  for (const int64_t tile : {100, 5'000, 400'000}) {
    const std::vector<OccupancyPoint> points = model.Occupancies(tile);
    EXPECT_LE(points.size(), 60u);
    double total = 0, mean = 0;
    for (const OccupancyPoint& point : points) {
      total += point.probability;
      mean += point.probability * static_cast<double>(point.occupancy);
    }
    EXPECT_NEAR(total, 1, 1e-12);
    EXPECT_NEAR(mean / model.ExpectedOccupancy(tile), 1, 2e-2);
    EXPECT_LT(model.Quantile(tile, 0.5), model.Quantile(tile, 0.95));
    EXPECT_LE(model.Quantile(tile, 0.95), model.Quantile(tile, 1));
  }
}

TEST(Density, RefusesWhatIsNone) {
  EXPECT_THROW(ParseDensity("0"), InputError);
  EXPECT_THROW(ParseDensity("1.5"), InputError);
  EXPECT_THROW(ParseDensity("nan"), InputError);
  EXPECT_THROW(ParseDensity("4:2"), InputError);
  EXPECT_THROW(ParseDensity("2:"), InputError);
  EXPECT_THROW(MakeDensity("banded", 0.5), InputError);
  EXPECT_EQ(ParseDensity("1"), Density{});
  EXPECT_EQ(ParseDensity("2:4").Describe(), "2:4");
}

}  // namespace
}  // namespace bayloom::mapspace
