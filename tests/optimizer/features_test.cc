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

TEST(FeaturesTest, HaveAColumnForASpaceOfOne) {
  Space::Builder builder;
  builder.Add(MakeInteger("only", 7, 7));
  const Features features(*builder.Build());
  EXPECT_EQ(features(std::vector<Configuration>{{{0.0}}}).cols(), 1);
}

}  // namespace
}  // namespace bayloom
