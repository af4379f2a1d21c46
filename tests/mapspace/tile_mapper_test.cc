// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/tile_mapper.h"

#include <gtest/gtest.h>

#include "bayloom/base/result.h"

namespace bayloom::mapspace {
namespace {

TEST(TileMapper, MapsEqualTilesOnce) {
  const Architecture architecture = ShippedArchitecture("gemmini16x16");
  const RetentionLevel home = RetentionLevelsOf(architecture).front();
  TileMapper mapper(architecture, {}, {.search = {.run = {.budget = {.trials = 200}, .seed = 1}}});
  int searched = 0;
  mapper.SetOnMapped([&](const MappedTile&) { ++searched; });
  const Problem tile = ParseProblem("conv2d:14x14x32,32,3x3,pad=1");
  const MappedTile first = *mapper.Map(tile, home);
  const MappedTile again = *mapper.Map(tile, home);
  EXPECT_EQ(searched, 1);
  ASSERT_TRUE(first.mapping);
  EXPECT_EQ(first.mapping, again.mapping);
  TileMapper other(architecture, {}, {});
  other.Restore(tile, home, first.mapping);
  EXPECT_EQ(other.Map(tile, home)->cost.energy_pj, first.cost.energy_pj);
  EXPECT_EQ(other.mapped(), 0);
  Mapping wrong = *first.mapping;
  wrong.levels[0].temporal[0] = 7;
  EXPECT_THROW(other.Restore(tile, home, wrong), InputError);
}

TEST(TileMapper, HasNoMappingOfTilesThatFixedFactorsDoNotDivide) {
  const Architecture architecture = ShippedArchitecture("gemmini16x16");
  const RetentionLevel home = RetentionLevelsOf(architecture).front();
  Directive by_four;
  by_four.kind = Directive::Kind::kTemporal;
  by_four.target = architecture.levels[0].name;
  by_four.factors = {{.dimension = "P", .value = 4}};
  TileMapper mapper(architecture, {by_four},
                    {.search = {.run = {.budget = {.trials = 200}, .seed = 1}}});
  int searched = 0;
  mapper.SetOnMapped([&](const MappedTile&) { ++searched; });
  EXPECT_FALSE(mapper.Map(ParseProblem("conv2d:6x8x4,4,1x1"), home)->mapping);
  EXPECT_EQ(searched, 1) << "or it would not be recorded";
  const MappedTile* divided = mapper.Map(ParseProblem("conv2d:8x6x4,4,1x1"), home);
  ASSERT_TRUE(divided->mapping);
  EXPECT_EQ(divided->mapping->levels[0].temporal[divided->problem.DimensionNamed("P")], 4);
}

}  // namespace
}  // namespace bayloom::mapspace
