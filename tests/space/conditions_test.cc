// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/space/configuration_json.h"
#include "bayloom/space/encoding.h"
#include "bayloom/space/space.h"

namespace bayloom::space {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Space> Finish(Space::Builder& builder) {
  Result<std::shared_ptr<const Space>> space = builder.Build();
  EXPECT_TRUE(space.ok()) << (space.ok() ? "" : space.error().message);
  return *space;
}

/// Algorithms with parameters of their own, one of which has some in turn: 1 + 4 + 2 * (1 + 3 * 2)
/// configurations, less those that constraints rule out.
Space::Builder Nested() {
  Space::Builder builder;
  builder.Add(MakeCategorical("algorithm", {"plain", "tiled", "split"}));
  builder.Add(MakeOrdinal("tile", {2, 4, 8, 16}, Scale::kLog));
  builder.Add(MakeInteger("parts", 1, 2));
  builder.Add(MakeCategorical("packed", {"no", "yes"}));
  builder.Add(MakeInteger("width", 1, 3));
  EXPECT_TRUE(builder.AddCondition("tile", "algorithm == 'tiled'").ok());
  EXPECT_TRUE(builder.AddCondition("parts", "algorithm == 'split'").ok());
  EXPECT_TRUE(builder.AddCondition("packed", "parts >= 1").ok());
  EXPECT_TRUE(builder.AddCondition("width", "packed == 'yes' and parts in [1, 2]").ok());
  return builder;
}

std::set<std::string> AllOf(const Space& space) {
  std::set<std::string> all;
  space.ForEach([&](const Configuration& configuration) {
    EXPECT_TRUE(space.Contains(configuration));
    EXPECT_TRUE(all.insert(space.ToString(configuration)).second)
        << space.ToString(configuration) << " occurs twice";
    return true;
  });
  return all;
}

TEST(Conditions, CountWhatIsDifferentOnly) {
  Space::Builder builder = Nested();
  const auto space = Finish(builder);
  EXPECT_EQ(space->CountFeasible(), 1 + 4 + 2 * (1 + 3));
  const std::set<std::string> all = AllOf(*space);
  EXPECT_EQ(static_cast<double>(all.size()), space->CountFeasible());
  EXPECT_TRUE(all.contains("algorithm=plain"));
  EXPECT_TRUE(all.contains("algorithm=split parts=2 packed=yes width=3"));
}

TEST(Conditions, SamplingIsUniformOverDifferentConfigurations) {
  Space::Builder builder = Nested();
  const auto space = Finish(builder);
  base::RandomStream random(7);
  std::map<std::string, int> drawn;
  constexpr int kDraws = 13000;
  for (int i = 0; i < kDraws; ++i) {
    const Configuration configuration = *space->Sample(random);
    ASSERT_TRUE(space->Contains(configuration));
    ++drawn[space->ToString(configuration)];
  }
  const double expected = kDraws / space->CountFeasible();
  double chi_square = 0;
  for (const auto& [text, count] : drawn) chi_square += std::pow(count - expected, 2) / expected;
  EXPECT_EQ(drawn.size(), 13u);
  EXPECT_LT(chi_square, 32.9);  // 12 degrees of freedom, one in a thousand
}

TEST(Conditions, EqualConfigurationsAreOne) {
  Space::Builder builder = Nested();
  const auto space = Finish(builder);
  const Configuration plain = *space->Parse({{"algorithm", "plain"}});
  const Configuration same =
      *space->Parse({{"algorithm", "plain"}, {"tile", int64_t{16}}, {"width", int64_t{2}}});
  EXPECT_EQ(plain, same);
  EXPECT_EQ(plain.Hash(), same.Hash());
  Configuration unsettled = plain;
  unsettled.coordinates[1] = 3;
  EXPECT_FALSE(space->Contains(unsettled));
  EXPECT_EQ(space->Settled(unsettled), plain);
  EXPECT_EQ(ToJson(*space, plain).dump(), R"({"algorithm":"plain"})");
  EXPECT_EQ(*FromJson(*space, {{"algorithm", "plain"}, {"tile", nullptr}}), plain);
  EXPECT_EQ(*FromJson(*space, {{"algorithm", "plain"}, {"tile", 7}, {"packed", "maybe"}}), plain);
  const Result<Configuration> outside = FromJson(*space, {{"algorithm", "tiled"}, {"tile", 7}});
  ASSERT_FALSE(outside.ok());
  EXPECT_THAT(outside.error().message, HasSubstr("parameter 'tile': 7"));
  EXPECT_FALSE(FromJson(*space, {{"algorithm", "none"}, {"tile", 4}}).ok());
  const Result<Configuration> missing = space->Parse({{"algorithm", "tiled"}});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("'tile' has neither a value nor a default"));
}

TEST(Conditions, JsonReadsBack) {
  Space::Builder builder = Nested();
  const auto space = Finish(builder);
  space->ForEach([&](const Configuration& configuration) {
    EXPECT_EQ(*FromJson(*space, ToJson(*space, configuration)), configuration);
    return true;
  });
}

TEST(Conditions, NeighboursReachEverything) {
  Space::Builder builder = Nested();
  ASSERT_TRUE(builder.AddConstraint("tile * width <= 16").ok());
  const auto space = Finish(builder);
  base::RandomStream random(1);
  std::set<std::string> reached;
  std::vector<Configuration> open = {*space->Parse({{"algorithm", "plain"}})};
  reached.insert(space->ToString(open[0]));
  while (!open.empty()) {
    const Configuration from = open.back();
    open.pop_back();
    for (const Configuration& next : space->Neighbours(from, random)) {
      EXPECT_TRUE(space->Contains(next)) << space->ToString(next);
      EXPECT_NE(next, from);
      if (reached.insert(space->ToString(next)).second) open.push_back(next);
    }
  }
  EXPECT_EQ(reached, AllOf(*space));
}

TEST(Conditions, ConstraintsDemandNothingOfWhatIsInactive) {
  Space::Builder builder;
  builder.Add(MakeCategorical("mode", {"a", "b"}));
  builder.Add(MakeInteger("x", 0, 9));
  builder.Add(MakeInteger("y", 0, 9));
  ASSERT_TRUE(builder.AddCondition("x", "mode == 'a'").ok());
  ASSERT_TRUE(builder.AddConstraint("x + y == 12 and y != 5").ok());
  ASSERT_TRUE(builder.AddConstraint("not (x < 4)").ok());
  const auto space = Finish(builder);
  // With 'a', y is from 3 to 8 but not 5 (x from 4 on); with 'b', only y != 5 is left.
  EXPECT_EQ(space->CountFeasible(), 5 + 9);
}

TEST(Conditions, ComparisonsWithWhatIsInactiveDoNotHold) {
  Space::Builder builder;
  builder.Add(MakeInteger("a", 0, 1));
  builder.Add(MakeInteger("b", 0, 1));
  builder.Add(MakeInteger("c", 0, 3));
  builder.Add(MakeInteger("d", 0, 4));
  ASSERT_TRUE(builder.AddCondition("b", "a == 1").ok());
  ASSERT_TRUE(builder.AddCondition("c", "b != 1").ok());
  ASSERT_TRUE(builder.AddCondition("d", "not (b == 1) or a == 0").ok());
  const auto space = Finish(builder);
  // a = 0: d only. a = 1, b = 0: c and d. a = 1, b = 1: neither.
  EXPECT_EQ(space->CountFeasible(), 5 + 4 * 5 + 1);
}

TEST(Conditions, OnRealParametersAndOfThem) {
  Space::Builder builder;
  builder.Add(MakeReal("share", 0, 1));
  builder.Add(MakeInteger("count", 1, 4));
  builder.Add(MakeReal("rate", 1, 2));
  ASSERT_TRUE(builder.AddCondition("count", "share > 0.5").ok());
  ASSERT_TRUE(builder.AddCondition("rate", "count >= 3").ok());
  ASSERT_TRUE(builder.AddConstraint("rate <= 1.9").ok());
  const auto space = Finish(builder);
  EXPECT_TRUE(std::isinf(space->CountFeasible()));
  base::RandomStream random(3);
  int active = 0;
  for (int i = 0; i < 2000; ++i) {
    const Configuration drawn = *space->Sample(random);
    ASSERT_TRUE(space->Contains(drawn));
    EXPECT_EQ(space->IsActive(drawn, 1), drawn.coordinates[0] > 0.5);
    active += space->IsActive(drawn, 2) ? 1 : 0;
    for (const Configuration& next : space->Neighbours(drawn, random)) {
      ASSERT_TRUE(space->Contains(next));
    }
  }
  EXPECT_NEAR(active, 500, 100);  // as if all were active: a half, then two of four
}

TEST(Conditions, InactivePairsContributeNothingToDistances) {
  Space::Builder builder = Nested();
  const auto space = Finish(builder);
  const Encoding encoding(space);
  const auto row_of = [&](const std::map<std::string, Value>& values) {
    std::vector<double> row(static_cast<size_t>(encoding.columns()));
    encoding.Encode(*space->Parse(values), row);
    return row;
  };
  const auto distance = [&](const std::vector<double>& a, const std::vector<double>& b,
                            int parameter) {
    double squares = 0;
    for (int c = encoding.FirstColumn(parameter); c < encoding.FirstColumn(parameter + 1); ++c) {
      squares += std::pow(a[static_cast<size_t>(c)] - b[static_cast<size_t>(c)], 2);
    }
    return std::sqrt(squares);
  };
  const auto plain = row_of({{"algorithm", "plain"}});
  const auto least = row_of({{"algorithm", "tiled"}, {"tile", int64_t{2}}});
  const auto second = row_of({{"algorithm", "tiled"}, {"tile", int64_t{4}}});
  const auto most = row_of({{"algorithm", "tiled"}, {"tile", int64_t{16}}});
  constexpr int kTile = 1, kParts = 2;
  EXPECT_EQ(distance(plain, most, kParts), 0);
  EXPECT_NEAR(distance(plain, least, kTile), 1, 1e-12);
  EXPECT_NEAR(distance(plain, second, kTile), 1, 1e-12);
  EXPECT_NEAR(distance(least, most, kTile), 1, 1e-12);
  EXPECT_NEAR(distance(least, second, kTile), 1.0 / 3, 0.06);
}

TEST(Conditions, WhatIsWrongIsSaidInOneLine) {
  Space::Builder builder;
  for (const char* name : {"a", "b", "c"}) builder.Add(MakeInteger(name, 0, 3));
  ASSERT_TRUE(builder.AddCondition("a", "b == 1").ok());
  ASSERT_TRUE(builder.AddCondition("b", "c == 1").ok());
  ASSERT_TRUE(builder.AddCondition("c", "a == 1").ok());
  EXPECT_THROW(builder.AddCondition("c", "a == 2"), InputError);
  EXPECT_THROW(builder.AddCondition("d", "a == 2"), InputError);
  const auto built = builder.Build();
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().message, "conditions go round in a circle: 'a' -> 'b' -> 'c' -> 'a'");

  Space::Builder other;
  other.Add(MakeCategorical("level", {"O2", "O3"}));
  other.Add(MakeInteger("x", 0, 3));
  const Status unknown = other.AddCondition("x", "level == 'O4'");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("condition 'level == 'O4''"));
  EXPECT_FALSE(other.AddCondition("x", "leve == 'O2'").ok());
}

/// 400 flags that count where a level is not 0, some with a number of their own. Takes less than a
/// second; what grows with the number of combinations would not end before the time limit of tests.
TEST(LargeSpaces, HundredsOfConditionalParametersAreCountedAndDrawn) {
  Space::Builder builder;
  builder.Add(MakeInteger("level", 0, 3));
  double log10_active = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string name = "f" + std::to_string(i);
    builder.Add(MakeCategorical(name, {"off", "on"}));
    ASSERT_TRUE(builder.AddCondition(name, "level > 0").ok());
    if (i % 8 != 0) {
      log10_active += std::log10(2);
      continue;
    }
    builder.Add(MakeInteger("n" + std::to_string(i), 1, 100000));
    ASSERT_TRUE(builder.AddCondition("n" + std::to_string(i), name + " == 'on'").ok());
    log10_active += std::log10(100001);
  }
  const std::shared_ptr<const Space> space = Finish(builder);
  EXPECT_NEAR(space->Log10CountFeasible(), log10_active + std::log10(3), 1e-9);
  EXPECT_TRUE(std::isinf(space->CountFeasible()));
  EXPECT_THAT(space->Describe(), HasSubstr("\n1e+355 feasible configurations\n"));
  base::RandomStream random(1);
  constexpr int kDraws = 300;
  int on = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Configuration drawn = *space->Sample(random);
    ASSERT_TRUE(space->Contains(drawn));
    on += drawn.coordinates[static_cast<size_t>(space->IndexOf("f1"))] == 1 ? 1 : 0;
  }
  EXPECT_NEAR(on, kDraws / 2, 60);
  EXPECT_GT(space->Neighbours(*space->Sample(random), random).size(), 400u);
}

TEST(LargeSpaces, CountsBeyondDoublesAreNoInfinity) {
  Space::Builder builder;
  for (int i = 0; i < 300; ++i) builder.Add(MakeInteger("x" + std::to_string(i), 0, 99));
  for (int i = 1; i < 300; i += 2) {
    const std::string left = "x" + std::to_string(i - 1), right = "x" + std::to_string(i);
    ASSERT_TRUE(builder.AddConstraint(left + " < " + right).ok());
  }
  const auto space = Finish(builder);
  EXPECT_NEAR(space->Log10CountFeasible(), 150 * std::log10(99 * 100 / 2), 1e-6);
  EXPECT_EQ(space->CountText(), "1e+554");
}

/// One tree of far more levels than a machine word has bits: a rising chain.
TEST(LargeSpaces, TreesMayHaveHundredsOfLevels) {
  Space::Builder builder;
  constexpr int kLevels = 120;
  for (int i = 0; i < kLevels; ++i) builder.Add(MakeInteger("x" + std::to_string(i), 0, 3));
  for (int i = 1; i < kLevels; ++i) {
    const std::string left = "x" + std::to_string(i - 1), right = "x" + std::to_string(i);
    ASSERT_TRUE(builder.AddConstraint(left + " <= " + right).ok());
  }
  const auto space = Finish(builder);
  // Where each of three steps is: 120 + 3 choose 3.
  EXPECT_EQ(space->CountFeasible(), 123.0 * 122 * 121 / 6);
}

}  // namespace
}  // namespace bayloom::space
