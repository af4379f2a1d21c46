// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/space/configuration_json.h"
#include "bayloom/space/encoding.h"

namespace bayloom::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Space::Builder EveryKind() {
  Space::Builder builder;
  builder.Add(MakeReal("rate", 0, 1));
  builder.Add(MakeInteger("unroll", 1, 8));
  builder.Add(MakeOrdinal("tile", {1, 2, 4, 8}, Scale::kLog));
  builder.Add(MakeCategorical("layout", {"row", "column", "true"}));
  builder.Add(MakePermutation("order", 3));
  builder.Add(MakeFactorization("split", 12, 2));
  return builder;
}

std::shared_ptr<const Space> Built(Space::Builder builder) { return *builder.Build(); }

TEST(Space, JsonReadsBack) {
  const auto space = Built(EveryKind());
  base::RandomStream random(1);
  for (int i = 0; i < 200; ++i) {
    const Configuration drawn = *space->Sample(random);
    EXPECT_TRUE(space->Contains(drawn));
    const nlohmann::json json = nlohmann::json::parse(ToJson(*space, drawn).dump());
    const Result<Configuration> read = FromJson(*space, json);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, drawn);
    EXPECT_EQ(read->Hash(), drawn.Hash());
  }
}

TEST(Space, PrintsConfigurations) {
  const auto space = Built(EveryKind());
  const Configuration configuration = *FromJson(*space, {{"rate", 0.25},
                                                         {"unroll", 4},
                                                         {"tile", 8.0},
                                                         {"layout", true},
                                                         {"order", {2, 0, 1}},
                                                         {"split", {4, 3}}});
  EXPECT_EQ(space->ToString(configuration),
            "rate=0.25 unroll=4 tile=8 layout=true order=[2, 0, 1] split=[4, 3]");
}

TEST(Space, KnowsWhatConstraintsCompare) {
  Space::Builder builder;
  builder.Add(MakeInteger("x", 1, 8));
  builder.Add(MakeInteger("y", 1, 8));
  builder.Add(MakeInteger("z", 0, 1));
  for (const char* text : {"4 <= x * y <= 32", "z == 0 or (x + 1) * (y + z) < 60", "x <= 7",
                           "x * y % 2 == 0", "x * y != 6"}) {
    ASSERT_TRUE(builder.AddConstraint(text).ok()) << text;
  }
  const auto space = Built(std::move(builder));
  // Neither what one parameter is compared with, nor what must be equal to something.
  ASSERT_EQ(space->quantities().size(), 2u);
  const std::vector<double> coordinates = {3, 4, 1};  // x = 4, y = 5, z = 1
  EXPECT_EQ(space->quantities()[0].Compute(coordinates), 20);
  EXPECT_EQ(space->quantities()[1].Compute(coordinates), 30);
}

TEST(Space, WrongValuesAreNamed) {
  const auto space = Built(EveryKind());
  const nlohmann::json right = {{"rate", 0.25},    {"unroll", 4},        {"tile", 8},
                                {"layout", "row"}, {"order", {2, 0, 1}}, {"split", {4, 3}}};
  const auto message = [&](const char* name, const nlohmann::json& value) {
    nlohmann::json json = right;
    json[name] = value;
    const Result<Configuration> read = FromJson(*space, json);
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_EQ(message("rate", 0), "");
  EXPECT_THAT(message("rate", 2), HasSubstr("'rate': 2 is not a number from 0 to 1"));
  EXPECT_THAT(message("unroll", 2.5), HasSubstr("'unroll': 2.5 is not a whole number"));
  EXPECT_THAT(message("tile", "2"), HasSubstr("'tile'"));
  EXPECT_THAT(message("layout", "rows"), HasSubstr("'rows' is not one of {row, column, true}"));
  EXPECT_THAT(message("order", {0, 0, 1}), HasSubstr("'order'"));
  EXPECT_THAT(message("split", {5, 3}), HasSubstr("'split'"));
  EXPECT_THAT(message("split", {4, "3"}), HasSubstr("'split'"));
  EXPECT_THAT(message("split", nullptr), HasSubstr("'split'"));
  EXPECT_THAT(message("other", 1), HasSubstr("no parameter 'other'"));
  nlohmann::json json = right;
  json.erase("tile");
  EXPECT_THAT(FromJson(*space, json).error().message, HasSubstr("'tile' has neither"));
}

TEST(Space, EncodesByParameter) {
  const auto space = Built(EveryKind());
  const Encoding encoding(space);
  EXPECT_THAT(encoding.group_of_column(), ElementsAre(0, 1, 2, 3, 3, 3, 4, 4, 4, 5, 5));
  const Configuration configuration = *FromJson(*space, {{"rate", 0.25},
                                                         {"unroll", 8},
                                                         {"tile", 2},
                                                         {"layout", "column"},
                                                         {"order", {0, 1, 2}},
                                                         {"split", {12, 1}}});
  std::vector<double> row(encoding.columns());
  encoding.Encode(configuration, row);
  EXPECT_EQ(row[0], 0.25);
  EXPECT_EQ(row[1], 1);
  EXPECT_NEAR(row[2], 1.0 / 3, 1e-12);
  EXPECT_EQ(row[3], 0);
  EXPECT_GT(row[4], 0.7);
  EXPECT_EQ(row[10], 0);
}

TEST(Space, NamesAreDifferent) {
  Space::Builder builder;
  builder.Add(MakeInteger("a", 0, 1));
  EXPECT_THROW(builder.Add(MakeInteger("a", 0, 2)), InputError);
  EXPECT_THROW(builder.Add(MakeInteger("", 0, 2)), InputError);
}

}  // namespace
}  // namespace bayloom::space
