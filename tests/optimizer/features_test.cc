// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/features.h"

#include <gtest/gtest.h>

#include "bayloom/space/parameter.h"

namespace bayloom::optimizer {
namespace {

TEST(FeaturesTest, LeaveOutWhatNeverVaries) {
  space::Space::Builder builder;
  builder.Add(space::MakeCategorical("fixed", {"this"}));
  builder.Add(space::MakeReal("rate", 0, 1));
  builder.Add(space::MakePermutation("order", 3));
  const Features features(*builder.Build());
  EXPECT_EQ(features.group_of_column(), (std::vector{0, 1, 1, 1}));
}

TEST(FeaturesTest, TellHowOftenWholeNumbersCanBeHalved) {
  space::Space::Builder builder;
  builder.Add(space::MakeOrdinal("block", {32, 48, 64, 80}));
  const Features features(*builder.Build());
  ASSERT_EQ(features.group_of_column(), (std::vector{0, 1}));
  const std::vector<space::Configuration> blocks = {{{0.0}}, {{1.0}}, {{2.0}}, {{3.0}}};
  const model::RowMatrix rows = features(blocks);
  EXPECT_DOUBLE_EQ(rows(0, 1), 5.0 / 6);
  EXPECT_DOUBLE_EQ(rows(1, 1), 4.0 / 6);
  EXPECT_DOUBLE_EQ(rows(2, 1), 1);
  EXPECT_DOUBLE_EQ(rows(3, 1), 4.0 / 6);
}

TEST(FeaturesTest, OfInactiveParametersAreAllAlike) {
  space::Space::Builder builder;
  builder.Add(space::MakeCategorical("tiled", {"no", "yes"}));
  builder.Add(space::MakeInteger("tile", 1, 64));
  builder.Add(space::MakeCategorical("fixed", {"this"}));
  ASSERT_TRUE(builder.AddCondition("tile", "tiled == 'yes'").ok());
  ASSERT_TRUE(builder.AddCondition("fixed", "tile > 8").ok());
  const std::shared_ptr<const space::Space> space = *builder.Build();
  const Features features(space);
  // What has a single value varies, too: it may be there or not.
  ASSERT_EQ(features.group_of_column(), (std::vector{0, 0, 1, 1, 2, 3, 3}));
  const std::vector<space::Configuration> some = {
      *space->Parse({{"tiled", "no"}}), *space->Parse({{"tiled", "no"}, {"tile", int64_t{64}}}),
      *space->Parse({{"tiled", "yes"}, {"tile", int64_t{64}}, {"fixed", "this"}}),
      *space->Parse({{"tiled", "yes"}, {"tile", int64_t{3}}})};
  const model::RowMatrix rows = features(some);
  EXPECT_EQ(rows.row(0), rows.row(1));
  EXPECT_NEAR((rows.row(0) - rows.row(2)).segment(2, 2).norm(), 1, 1e-12);
  EXPECT_NEAR((rows.row(0) - rows.row(2)).segment(5, 2).norm(), 1, 1e-12);
  EXPECT_EQ((rows.row(0) - rows.row(3)).segment(5, 2).norm(), 0);
}

// Rows are made from the rows before them, which must not show.
TEST(FeaturesTest, OfManyAreThoseOfEachAlone) {
  space::Space::Builder builder;
  builder.Add(space::MakeCategorical("tiled", {"no", "yes"}));
  builder.Add(space::MakeInteger("tile", 1, 64));
  builder.Add(space::MakePermutation("order", 4));
  builder.Add(space::MakeCategorical("inner", {"none", "vector", "scalar"}));
  builder.Add(space::MakeReal("share", 0, 1));
  builder.Add(space::MakeOrdinal("width", {4, 8, 12, 16, 48}));
  ASSERT_TRUE(builder.AddCondition("tile", "tiled == 'yes'").ok());
  ASSERT_TRUE(builder.AddCondition("inner", "tile > 8").ok());
  ASSERT_TRUE(builder.AddCondition("width", "inner == 'vector'").ok());
  ASSERT_TRUE(builder.AddConstraint("tile * width <= 1024").ok());
  const std::shared_ptr<const space::Space> space = *builder.Build();
  const Features features(space, {.quantities = true});
  base::RandomStream random(1);
  std::vector<space::Configuration> some;
  while (some.size() < 400) {
    some.push_back(*space->Sample(random));
    for (space::Configuration& c : space->Neighbours(some.back(), random)) some.push_back(c);
  }
  const model::RowMatrix rows = features(some);
  for (size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(rows.row(static_cast<Eigen::Index>(i)), features({&some[i], 1}).row(0)) << i;
  }
}

TEST(FeaturesTest, SayNothingTwice) {
  space::Space::Builder builder;
  builder.Add(space::MakeOrdinal("powers", {1, 2, 4, 8}, space::Scale::kLog));
  builder.Add(space::MakeOrdinal("odd", {1, 3, 5}));
  builder.Add(space::MakeOrdinal("fractions", {0.5, 1, 2}));
  builder.Add(space::MakeInteger("flag", 0, 1));
  builder.Add(space::MakeInteger("count", 1, 3));  // only which are even, and 1 is not as 3
  builder.Add(space::MakeInteger("method", 0, 3));
  const Features features(*builder.Build());
  EXPECT_EQ(features.columns(), 6);
}

TEST(FeaturesTest, TellQuantitiesThatConstraintsCompare) {
  space::Space::Builder builder;
  builder.Add(space::MakeOrdinal("x", {1, 2, 4, 8}, space::Scale::kLog));
  builder.Add(space::MakeOrdinal("y", {1, 2, 4, 8}, space::Scale::kLog));
  ASSERT_TRUE(builder.AddConstraint("x * y <= 16").ok());
  const std::shared_ptr<const space::Space> space = *builder.Build();
  const Features features(space, {.quantities = true});
  ASSERT_EQ(features.group_of_column(), (std::vector{0, 1, 2}));
  const std::vector<space::Configuration> tiles = {{{0.0, 0.0}}, {{1.0, 1.0}}, {{3.0, 1.0}}};
  const model::RowMatrix rows = features(tiles);
  EXPECT_DOUBLE_EQ(rows(0, 2), 0);    // 1 of 1 .. 16, by the logarithm
  EXPECT_DOUBLE_EQ(rows(1, 2), 0.5);  // 4
  EXPECT_DOUBLE_EQ(rows(2, 2), 1);    // 16
  EXPECT_EQ(Features(space).columns(), 2);
}

TEST(FeaturesTest, TakeNumbersAsTheyAreWithoutLogarithms) {
  space::Space::Builder builder;
  builder.Add(space::MakeOrdinal("tile", {1, 2, 4, 9}, space::Scale::kLog));
  builder.Add(space::MakeReal("rate", 0, 1));
  builder.Add(space::MakePermutation("order", 3));
  const Features features(*builder.Build(), {.logarithms = false, .halvings = false});
  EXPECT_EQ(features.group_of_column(), (std::vector{0, 1, 2, 2, 2}));
  const model::RowMatrix rows = features(std::vector<space::Configuration>{{{2.0, 0.25, 0.0}}});
  EXPECT_DOUBLE_EQ(rows(0, 0), 3.0 / 8);
  EXPECT_DOUBLE_EQ(rows(0, 1), 0.25);
}

TEST(FeaturesTest, HaveAColumnForASpaceOfOne) {
  space::Space::Builder builder;
  builder.Add(space::MakeInteger("only", 7, 7));
  const Features features(*builder.Build());
  EXPECT_EQ(features(std::vector<space::Configuration>{{{0.0}}}).cols(), 1);
}

}  // namespace
}  // namespace bayloom::optimizer
