// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Spaces whose constraints leave too much to enumerate and too little to hit by chance.

#include "bayloom/space/constraint_solver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "bayloom/space/constraint_parser.h"
#include "bayloom/space/space.h"

namespace bayloom::space {
namespace {

using ::testing::HasSubstr;

/// Whole numbers from `low` to `high`, as many as there are names.
Result<std::shared_ptr<const Space>> TryBuild(const std::vector<std::string>& names, int64_t low,
                                              int64_t high,
                                              const std::vector<std::string>& constraints) {
  Space::Builder builder;
  for (const std::string& name : names) builder.Add(MakeInteger(name, low, high));
  for (const std::string& text : constraints) {
    const Status added = builder.AddConstraint(text);
    EXPECT_TRUE(added.ok()) << added.error().message;
  }
  return builder.Build();
}

struct Case {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<std::string> constraints;
  int64_t low = 1;
  int64_t high = 1'000'000'000;

  friend void PrintTo(const Case& shown, std::ostream* out) { *out << shown.name; }
};

const Case kCases[] = {
    {"Equal", {"a", "b"}, {"a == b"}},
    {"Divides", {"a", "b"}, {"a % b == 0"}},
    {"DividesFromZero", {"a", "b"}, {"a % b == 0"}, 0},
    {"DividesNegative", {"a", "b"}, {"a % b == 0"}, -1'000'000'000},
    {"Product", {"a", "b"}, {"a * b <= 1000000000"}},
    {"Sum", {"a", "b"}, {"a + b == 1000"}},
    {"Difference", {"a", "b"}, {"a - b == 123456789"}},
    {"ChainOfDivisors", {"a", "b", "c", "d"}, {"a % b == 0", "b % c == 0", "c % d == 0"}},
    {"ChainOfEquals",
     {"a", "b", "c", "d", "e", "f"},
     {"a == b", "b == c", "c == d", "d == e", "e == f"}},
    {"TilesOfAnExtent", {"a", "b", "c", "d"}, {"a * b * c * d == 802816"}},
    {"SixTiles", {"a", "b", "c", "d", "e", "f"}, {"a * b * c * d * e * f == 479001600"}},
    {"TilesOfAnotherParameter", {"n", "a", "b"}, {"a * b == n", "n <= 1000000"}},
    {"Tiles", {"n", "outer", "middle", "inner"}, {"outer * middle * inner == n", "n % 16 == 0"}},
    {"Multiples", {"a", "b"}, {"a % 4096 == 0", "b % a == 0"}},
    {"Remainder", {"a", "b"}, {"a % b == 7"}},
    {"Diophantine", {"a", "b"}, {"12 * a + 35 * b == 123456789"}},
    {"Member", {"a", "b"}, {"a in [1, 1000003, 999999937]", "b % a == 0"}},
    {"EitherOr", {"a", "b"}, {"a == 5 or a % b == 0", "a + b <= 100000"}},
    {"Implied", {"a", "b", "c"}, {"a == 3 * b + 1", "c == min(a, b)", "a * c <= 1000000"}},
    {"FloorQuotient", {"a", "b"}, {"a // b == 1000", "a <= 100000000"}},
    {"ProductDivides", {"a", "b", "c"}, {"a * b % c == 0", "c >= 1000000", "a <= 30000000"}},
    {"DividesProduct", {"a", "b", "c"}, {"c % (a * b) == 0", "a > 10", "b > 10"}},
    {"Squares", {"a", "b"}, {"sqrt(a) == b"}},
};

class LargeSpaces : public testing::TestWithParam<Case> {
 protected:
  const std::shared_ptr<const Space> space_ =
      *TryBuild(GetParam().parameters, GetParam().low, GetParam().high, GetParam().constraints);
};

TEST_P(LargeSpaces, SamplesAreFeasibleAndDiffer) {
  base::RandomStream random(1);
  for (SamplingMethod method :
       {SamplingMethod::kUniformLeaves, SamplingMethod::kBiasedPath, SamplingMethod::kPrior}) {
    std::set<std::vector<double>> met;
    for (int i = 0; i < 50; ++i) {
      const std::optional<Configuration> drawn = space_->Sample(random, method);
      ASSERT_TRUE(drawn.has_value()) << "draw " << i;
      ASSERT_TRUE(space_->Contains(*drawn)) << space_->ToString(*drawn);
      met.insert(drawn->coordinates);
    }
    EXPECT_GT(met.size(), 25u);
  }
}

TEST_P(LargeSpaces, NeighboursAreFeasibleAndOthers) {
  base::RandomStream random(2);
  int with_neighbours = 0;
  for (int i = 0; i < 20; ++i) {
    const Configuration drawn = *space_->Sample(random);
    const std::vector<Configuration> neighbours = space_->Neighbours(drawn, random);
    with_neighbours += neighbours.empty() ? 0 : 1;
    for (const Configuration& neighbour : neighbours) {
      ASSERT_TRUE(space_->Contains(neighbour)) << space_->ToString(neighbour);
      ASSERT_NE(neighbour, drawn);
    }
  }
  EXPECT_GE(with_neighbours, 18);
}

TEST_P(LargeSpaces, OneSeedDrawsTheSame) {
  base::RandomStream one(3), two(3);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(space_->Sample(one), space_->Sample(two));
}

INSTANTIATE_TEST_SUITE_P(All, LargeSpaces, testing::ValuesIn(kCases),
                         [](const auto& shown) { return shown.param.name; });

TEST(LargeSpaces, WhatIsLeftIsEnumeratedWhereItIsFew) {
  EXPECT_EQ((*TryBuild({"a", "b"}, 1, 1'000'000'000, {"a + b == 1000"}))->CountFeasible(), 999);
  // Exponents of 2^14 and of 7^2 over four places: (17 over 3) * (5 over 3).
  const auto tiles = *TryBuild({"a", "b", "c", "d"}, 1, 1'000'000'000, {"a * b * c * d == 802816"});
  EXPECT_EQ(tiles->CountFeasible(), 680 * 10);
}

TEST(LargeSpaces, ContradictionsAreNamed) {
  EXPECT_THAT(TryBuild({"a", "b"}, 1, 1'000'000'000, {"a == b", "a + b == 1001"}).error().message,
              HasSubstr("the constraints on 'a', 'b' contradict each other"));
  EXPECT_FALSE(
      TryBuild({"a", "b"}, 1, 1'000'000'000, {"a * b == 1000000007", "a > 1", "b > 1"}).ok());
}

TEST(LargeSpaces, LocalSearchGetsAlongAnEquality) {
  const auto space = *TryBuild({"a", "b"}, 1, 1'000'000'000, {"a == b"});
  base::RandomStream random(4);
  Configuration at = *space->Sample(random);
  const auto distance = [](const Configuration& c) { return std::abs(c.coordinates[0] - 123456); };
  for (int step = 0; step < 400; ++step) {
    for (const Configuration& c : space->Neighbours(at, random)) {
      if (distance(c) < distance(at)) at = c;
    }
  }
  EXPECT_LT(distance(at), 1'000'000);
}

TEST(LargeSpaces, RealParametersMayBeTied) {
  Space::Builder builder;
  builder.Add(MakeReal("x", 0.001, 1000, Scale::kLog)).Add(MakeReal("y", 0.001, 1000));
  builder.Add(MakeInteger("n", 1, 1'000'000'000));
  ASSERT_TRUE(builder.AddConstraint("x == 2 * y").ok());
  ASSERT_TRUE(builder.AddConstraint("n * y <= 10").ok());
  const auto space = *builder.Build();
  base::RandomStream random(5);
  for (int i = 0; i < 50; ++i) {
    const std::optional<Configuration> drawn = space->Sample(random);
    ASSERT_TRUE(drawn.has_value());
    EXPECT_TRUE(space->Contains(*drawn));
    EXPECT_FALSE(space->Neighbours(*drawn, random).empty());
  }
}

TEST(LargeSpaces, WhatCannotBeSolvedIsGivenUp) {
  Space::Builder builder;
  builder.Add(MakeInteger("a", 1, 1'000'000'000));
  const std::string names[] = {"a"};
  builder.AddConstraint(names, [](std::span<const Value>) { return false; });
  const auto space = *builder.Build();
  base::RandomStream random(6);
  EXPECT_EQ(space->Sample(random), std::nullopt);
}

// Against enumeration, in spaces small enough for it.

struct SmallCase {
  std::vector<std::string> constraints;
  int64_t low, high;

  friend void PrintTo(const SmallCase& shown, std::ostream* out) {
    *out << fmt::format("{} over {}..{}", fmt::join(shown.constraints, ", "), shown.low,
                        shown.high);
  }
};
const SmallCase kSmallCases[] = {
    {{"a % b == 0"}, 1, 30},
    {{"a % b == 0"}, -6, 12},
    {{"a % b == 2"}, 0, 25},
    {{"a * b <= 40"}, 1, 40},
    {{"a == b or a + b == 20"}, 1, 20},
    {{"a * b == 24 or a == 7"}, 0, 24},
    {{"3 * a + 5 * b == 61"}, -10, 30},
    {{"a * a == b"}, -20, 20},
    {{"abs(a - b) == 3", "a % 2 == 0"}, -9, 9},
    {{"a // b == 3"}, 1, 30},
    {{"a / b == 2.5"}, 1, 40},
    {{"max(a, b) == 12", "min(a, b) % 5 == 0"}, -12, 12},
    {{"(a if a > b else b) == 9"}, 1, 12},
    {{"a ** 2 <= b", "a & 1 == 1"}, 1, 30},
    {{"not (a < b)", "a != b", "a in [2, 3, 5, 7, 11]"}, 1, 12},
    {{"-a * b == 36"}, -36, 36},
    {{"a * b % 12 == 0", "a <= b"}, 1, 18},
    {{"gcd(a, b) == 6"}, 1, 36},
    {{"60 % (a * b) == 0"}, 1, 60},
    {{"sqrt(a) <= b", "log2(b) == floor(log2(b))"}, 1, 20},
};

class SmallSpaces : public testing::TestWithParam<SmallCase> {
 protected:
  SmallSpaces() {
    for (const char* name : {"a", "b"}) {
      parameters_.push_back(MakeInteger(name, GetParam().low, GetParam().high));
    }
    for (const std::string& text : GetParam().constraints) {
      const Result<std::vector<int>> parsed = ParseConstraint(text, parameters_, graph_);
      EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
      constraints_.insert(constraints_.end(), parsed->begin(), parsed->end());
    }
    solver_.emplace(graph_, parameters_, std::vector{0, 1}, constraints_);
    std::vector<Constraint> programs;
    for (int c : constraints_) programs.emplace_back(graph_, parameters_, c);
    const auto size = static_cast<double>(parameters_[0]->Cardinality());
    for (double a = 0; a < size; ++a) {
      for (double b = 0; b < size; ++b) {
        const std::vector<double> at = {a, b};
        if (std::all_of(programs.begin(), programs.end(),
                        [&](const Constraint& c) { return c.Holds(at); })) {
          feasible_[at] = 0;
        }
      }
    }
  }

  ExpressionGraph graph_;
  ExpressionGraph::Parameters parameters_;
  std::vector<int> constraints_;
  std::optional<ConstraintSolver> solver_;
  std::map<std::vector<double>, int> feasible_;
};

TEST_P(SmallSpaces, NothingFeasibleIsEverRemoved) {
  ASSERT_FALSE(feasible_.empty());
  ASSERT_FALSE(solver_->is_contradictory());
  Propagation propagation(graph_, parameters_, std::vector{0, 1}, constraints_);
  for (const auto& [at, hits] : feasible_) {
    // Whichever of the parameters is known already.
    for (int known = 0; known < 4; ++known) {
      std::vector<NumberSet> sets = propagation.Domains();
      for (int m = 0; m < 2; ++m) {
        if ((known >> m & 1) != 0) sets[m] = NumberSet::Point(propagation.NumberOf(m, at[m]));
      }
      ASSERT_TRUE(propagation.Narrow(sets)) << at[0] << " " << at[1] << " known " << known;
      for (int m = 0; m < 2; ++m) {
        EXPECT_TRUE(sets[m].Contains(propagation.NumberOf(m, at[m])))
            << at[0] << " " << at[1] << " known " << known << " member " << m;
      }
    }
  }
}

TEST_P(SmallSpaces, DrawsAreNearlyUniform) {
  base::RandomStream random(7);
  const int draws = 60 * static_cast<int>(feasible_.size());
  std::vector<double> at(2);
  for (int i = 0; i < draws; ++i) {
    ASSERT_TRUE(solver_->Sample(random, SamplingMethod::kUniformLeaves, at));
    const auto found = feasible_.find(at);
    ASSERT_NE(found, feasible_.end()) << at[0] << " " << at[1];
    ++found->second;
  }
  double distance = 0;  // in total variation
  for (const auto& [point, hits] : feasible_) {
    EXPECT_GT(hits, 0) << point[0] << " " << point[1];
    distance += 0.5 * std::abs(static_cast<double>(hits) / draws -
                               1 / static_cast<double>(feasible_.size()));
  }
  EXPECT_LT(distance, 0.25);
}

TEST_P(SmallSpaces, AlternativesAreFeasible) {
  base::RandomStream random(8);
  for (const auto& [at, hits] : feasible_) {
    for (int m = 0; m < 2; ++m) {
      for (double c : solver_->Alternatives(m, at, random)) {
        std::vector<double> changed = at;
        changed[m] = c;
        EXPECT_TRUE(feasible_.contains(changed));
      }
      for (const std::vector<double>& changed : solver_->JointAlternatives(m, at, random)) {
        EXPECT_TRUE(feasible_.contains(changed));
        EXPECT_NE(changed[m], at[m]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallSpaces, testing::ValuesIn(kSmallCases));

}  // namespace
}  // namespace bayloom::space
