#include "bayloom/optimizer/features.h"

#include <gtest/gtest.h>

#include "bayloom/space/parameter.h"

namespace bayloom {
namespace {

TEST(FeaturesTest, LeaveOutWhatNeverVaries) {
  Space::Builder builder;
  builder.Add(MakeCategorical("fixed", {"this"}));
  builder.Add(MakeReal("rate", 0, 1));
  builder.Add(MakePermutation("order", 3));
  const Features features(*builder.Build());
  EXPECT_EQ(features.group_of_column(), (std::vector{0, 1, 1, 1}));
}

TEST(FeaturesTest, TellHowOftenWholeNumbersCanBeHalved) {
  Space::Builder builder;
  builder.Add(MakeOrdinal("block", {32, 48, 64, 80}));
  const Features features(*builder.Build());
  ASSERT_EQ(features.group_of_column(), (std::vector{0, 1}));
  const std::vector<Configuration> blocks = {{{0.0}}, {{1.0}}, {{2.0}}, {{3.0}}};
  const RowMatrix rows = features(blocks);
  EXPECT_DOUBLE_EQ(rows(0, 1), 5.0 / 6);
  EXPECT_DOUBLE_EQ(rows(1, 1), 4.0 / 6);
  EXPECT_DOUBLE_EQ(rows(2, 1), 1);
  EXPECT_DOUBLE_EQ(rows(3, 1), 4.0 / 6);
}

TEST(FeaturesTest, SayNothingTwice) {
  Space::Builder builder;
  builder.Add(MakeOrdinal("powers", {1, 2, 4, 8}, Scale::kLog));
  builder.Add(MakeOrdinal("odd", {1, 3, 5}));
  builder.Add(MakeOrdinal("fractions", {0.5, 1, 2}));
  builder.Add(MakeInteger("flag", 0, 1));
  const Features features(*builder.Build());
  EXPECT_EQ(features.columns(), 4);
}

TEST(FeaturesTest, TellQuantitiesThatConstraintsCompare) {
  Space::Builder builder;
  builder.Add(MakeOrdinal("x", {1, 2, 4, 8}, Scale::kLog));
  builder.Add(MakeOrdinal("y", {1, 2, 4, 8}, Scale::kLog));
  ASSERT_TRUE(builder.AddConstraint("x * y <= 16").ok());
  const std::shared_ptr<const Space> space = *builder.Build();
  const Features features(space, {.quantities = true});
  ASSERT_EQ(features.group_of_column(), (std::vector{0, 1, 2}));
  const std::vector<Configuration> tiles = {{{0.0, 0.0}}, {{1.0, 1.0}}, {{3.0, 1.0}}};
  const RowMatrix rows = features(tiles);
  EXPECT_DOUBLE_EQ(rows(0, 2), 0);    // 1 of 1 .. 16, by the logarithm
  EXPECT_DOUBLE_EQ(rows(1, 2), 0.5);  // 4
  EXPECT_DOUBLE_EQ(rows(2, 2), 1);    // 16
  EXPECT_EQ(Features(space).columns(), 2);
}

TEST(FeaturesTest, TakeNumbersAsTheyAreWithoutLogarithms) {
  Space::Builder builder;
  builder.Add(MakeOrdinal("tile", {1, 2, 4, 9}, Scale::kLog));
  builder.Add(MakeReal("rate", 0, 1));
  builder.Add(MakePermutation("order", 3));
  const Features features(*builder.Build(), {.logarithms = false, .halvings = false});
  EXPECT_EQ(features.group_of_column(), (std::vector{0, 1, 2, 2, 2}));
  const RowMatrix rows = features(std::vector<Configuration>{{{2.0, 0.25, 0.0}}});
  EXPECT_DOUBLE_EQ(rows(0, 0), 3.0 / 8);
  EXPECT_DOUBLE_EQ(rows(0, 1), 0.25);
}

TEST(FeaturesTest, HaveAColumnForASpaceOfOne) {
  Space::Builder builder;
  builder.Add(MakeInteger("only", 7, 7));
  const Features features(*builder.Build());
  EXPECT_EQ(features(std::vector<Configuration>{{{0.0}}}).cols(), 1);
}

}  // namespace
}  // namespace bayloom
