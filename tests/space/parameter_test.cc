// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/parameter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace bayloom::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<int64_t> List(std::initializer_list<int64_t> items) { return items; }

std::vector<double> EmbeddingOf(const Parameter& parameter, double coordinate) {
  std::vector<double> point(parameter.EmbeddingSize());
  parameter.Embed(coordinate, point);
  return point;
}

double Distance(const Parameter& parameter, double a, double b) {
  const std::vector<double> p = EmbeddingOf(parameter, a);
  const std::vector<double> q = EmbeddingOf(parameter, b);
  double squares = 0;
  for (size_t i = 0; i < p.size(); ++i) squares += (p[i] - q[i]) * (p[i] - q[i]);
  return std::sqrt(squares);
}

std::vector<std::unique_ptr<Parameter>> CountableParameters() {
  std::vector<std::unique_ptr<Parameter>> all;
  all.push_back(MakeInteger("integer", -3, 11));
  all.push_back(MakeInteger("log integer", 1, 40, Scale::kLog));
  all.push_back(MakeInteger("one integer", 5, 5));
  all.push_back(MakeInteger("wide integer", 0, 500));
  all.push_back(MakeOrdinal("ordinal", {4, 1, 2, 16}));
  all.push_back(MakeOrdinal("log ordinal", {0.5, 1, 8}, Scale::kLog));
  all.push_back(MakeOrdinal("levels", std::vector<std::string>{"low", "middle", "high"}));
  all.push_back(MakeCategorical("categorical", {"row", "column", "tile"}));
  all.push_back(MakeCategorical("one text", {"row"}));
  for (PermutationMetric metric : {PermutationMetric::kSpearman, PermutationMetric::kKendall,
                                   PermutationMetric::kHamming, PermutationMetric::kNaive}) {
    all.push_back(MakePermutation("permutation", 4, metric));
  }
  all.push_back(MakePermutation("one item", 1));
  all.push_back(MakeFactorization("factorization", 360, 3));
  all.push_back(MakeFactorization("bounded", 96, 4, 16));
  all.push_back(MakeFactorization("two parts", 96, 2, 16));
  all.push_back(MakeFactorization("whole", 12, 1));
  all.push_back(MakeFactorization("unit", 1, 3));
  return all;
}

TEST(Parameter, ValuesAndRanksAreOneToOne) {
  for (const auto& parameter : CountableParameters()) {
    SCOPED_TRACE(parameter->Describe());
    std::set<Value> values;
    for (double rank = 0; rank < static_cast<double>(parameter->Cardinality()); ++rank) {
      const Value value = parameter->ValueAt(rank);
      values.insert(value);
      const Result<double> coordinate = parameter->CoordinateOf(value);
      ASSERT_TRUE(coordinate.ok()) << ToString(value);
      EXPECT_EQ(*coordinate, rank);
    }
    EXPECT_EQ(static_cast<int64_t>(values.size()), parameter->Cardinality());
  }
}

TEST(Parameter, TheTwoFarthestValuesAreOneApart) {
  for (const auto& parameter : CountableParameters()) {
    SCOPED_TRACE(parameter->Describe());
    double farthest = 0;
    const auto count = static_cast<double>(parameter->Cardinality());
    for (double a = 0; a < count; ++a) {
      for (double b = 0; b < a; ++b) {
        const double distance = Distance(*parameter, a, b);
        EXPECT_GT(distance, 0);
        farthest = std::max(farthest, distance);
      }
    }
    EXPECT_NEAR(farthest, count > 1 ? 1 : 0, 1e-12);
  }
}

TEST(Parameter, NeighboursAreOtherValuesOfTheDomainEachOnce) {
  base::RandomStream random(1);
  for (const auto& parameter : CountableParameters()) {
    SCOPED_TRACE(parameter->Describe());
    for (double rank = 0; rank < static_cast<double>(parameter->Cardinality()); ++rank) {
      const std::vector<double> neighbours = parameter->Neighbours(rank, random);
      const std::set<double> different(neighbours.begin(), neighbours.end());
      EXPECT_EQ(different.size(), neighbours.size());
      EXPECT_FALSE(different.contains(rank));
      for (double n : neighbours) {
        EXPECT_GE(n, 0);
        EXPECT_LT(n, static_cast<double>(parameter->Cardinality()));
        EXPECT_EQ(n, std::floor(n));
      }
      EXPECT_EQ(neighbours.empty(), parameter->Cardinality() == 1);
    }
  }
}

TEST(Categorical, ManyTextsHaveFewColumnsAndAreAboutEquallyFarApart) {
  constexpr int64_t kTexts = 100'000;
  std::vector<std::string> texts;
  for (int64_t i = 0; i < kTexts; ++i) texts.push_back("text " + std::to_string(i));
  const auto parameter = MakeCategorical("text", std::move(texts));
  EXPECT_LE(parameter->EmbeddingSize(), 256);
  base::RandomStream random(5);
  double sum = 0;
  constexpr int kPairs = 20'000;
  for (int pair = 0; pair < kPairs; ++pair) {
    const double a = parameter->Sample(random);
    EXPECT_EQ(Distance(*parameter, a, a), 0);
    // Also ranks beside each other are no nearer than others.
    const double b = pair % 2 == 0 ? std::fmod(a + 1, kTexts) : parameter->Sample(random);
    if (a == b) continue;
    const double distance = Distance(*parameter, a, b);
    ASSERT_GT(distance, 0.7);
    ASSERT_LT(distance, 1.3);
    sum += distance;
  }
  EXPECT_NEAR(sum / kPairs, 1, 0.01);
  std::set<double> reached;
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> neighbours = parameter->Neighbours(7, random);
    EXPECT_LE(neighbours.size(), 256u);
    reached.insert(neighbours.begin(), neighbours.end());
  }
  EXPECT_FALSE(reached.contains(7));
  EXPECT_GT(reached.size(), 5000u);  // others each time
}

TEST(Parameter, SamplesReachEveryValueAboutEquallyOften) {
  base::RandomStream random(2);
  for (const auto& parameter : CountableParameters()) {
    SCOPED_TRACE(parameter->Describe());
    std::vector<double> hits(parameter->Cardinality());
    constexpr double kPerValue = 200;
    const double draws = kPerValue * static_cast<double>(hits.size());
    for (double i = 0; i < draws; ++i) ++hits[static_cast<size_t>(parameter->Sample(random))];
    double chi_square = 0;
    for (double h : hits) chi_square += (h - kPerValue) * (h - kPerValue) / kPerValue;
    const double freedom = static_cast<double>(hits.size() - 1);
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom) + 1e-9);
  }
}

// Hellsten et al. 2023, figure 3: [1, 2, 3, 4] and [2, 4, 3, 1] give the places of the items; 4
// discordant pairs, squared movements of 14, 3 items moved.
TEST(Permutation, HasThePapersDistances) {
  const std::vector<int64_t> places = {1, 3, 2, 0};
  std::vector<int64_t> order(4);
  for (int64_t item = 0; item < 4; ++item) order[places[item]] = item;
  const auto squared = [&](PermutationMetric metric) {
    const auto permutation = MakePermutation("loops", 4, metric);
    const double distance = Distance(*permutation, 0, *permutation->CoordinateOf(order));
    return distance * distance;
  };
  EXPECT_NEAR(squared(PermutationMetric::kKendall), 4.0 / 6, 1e-12);
  EXPECT_NEAR(squared(PermutationMetric::kSpearman), 14.0 / 20, 1e-12);
  EXPECT_NEAR(squared(PermutationMetric::kHamming), 3.0 / 4, 1e-12);
  EXPECT_NEAR(squared(PermutationMetric::kNaive), 1, 1e-12);
}

TEST(Permutation, RanksFollowTheDictionary) {
  const auto permutation = MakePermutation("order", 4);
  EXPECT_EQ(permutation->ValueAt(0), Value(List({0, 1, 2, 3})));
  EXPECT_EQ(permutation->ValueAt(1), Value(List({0, 1, 3, 2})));
  EXPECT_EQ(permutation->ValueAt(23), Value(List({3, 2, 1, 0})));
}

TEST(Permutation, OfEighteenItemsIsExact) {
  const auto permutation = MakePermutation("order", 18);
  base::RandomStream random(3);
  for (int i = 0; i < 1000; ++i) {
    const double rank = permutation->Sample(random);
    EXPECT_EQ(*permutation->CoordinateOf(permutation->ValueAt(rank)), rank);
  }
  EXPECT_THROW(MakePermutation("order", 19), InputError);
}

TEST(Factorization, CountsOrderedSplits) {
  // 360 = 2^3 * 3^2 * 5: binomial(5, 2) * binomial(4, 2) * binomial(3, 2).
  EXPECT_EQ(MakeFactorization("f", 360, 3)->Cardinality(), 180);
  EXPECT_EQ(MakeFactorization("f", 1024, 4)->Cardinality(), 286);
  // Innermost 1, 2, 4 or 8 out of 2^5, the rest into two.
  EXPECT_EQ(MakeFactorization("f", 32, 3, 8)->Cardinality(), 6 + 5 + 4 + 3);
}

TEST(Factorization, StepsMoveOnePrime) {
  const auto factorization = MakeFactorization("tile", 12, 3);
  base::RandomStream random(1);
  const double from = *factorization->CoordinateOf(List({4, 3, 1}));
  std::vector<std::vector<int64_t>> reached;
  for (double n : factorization->Neighbours(from, random)) {
    reached.push_back(std::get<std::vector<int64_t>>(factorization->ValueAt(n)));
  }
  EXPECT_THAT(reached, UnorderedElementsAre(ElementsAre(2, 6, 1), ElementsAre(2, 3, 2),
                                            ElementsAre(12, 1, 1), ElementsAre(4, 1, 3)));
}

TEST(Real, StaysWithinItsEndsAndOnItsScale) {
  const auto rate = MakeReal("rate", 1e-4, 1, Scale::kLog);
  base::RandomStream random(4);
  int below = 0;
  for (int i = 0; i < 2000; ++i) {
    const double drawn = rate->Sample(random);
    ASSERT_TRUE(rate->CoordinateOf(drawn).ok());
    below += drawn < 1e-2;
    for (double n : rate->Neighbours(drawn, random)) ASSERT_TRUE(rate->CoordinateOf(n).ok());
  }
  EXPECT_NEAR(below, 1000, 120);
  EXPECT_EQ(rate->Cardinality(), kUncountable);
  EXPECT_NEAR(EmbeddingOf(*rate, 1e-2)[0], 0.5, 1e-12);
  EXPECT_NEAR(Distance(*rate, 1e-4, 1), 1, 1e-12);
}

TEST(Ordinal, AcceptsNumbersOfBothTypes) {
  const auto ordinal = MakeOrdinal("tile", {8, 2, 4}, Scale::kLog);
  EXPECT_EQ(ordinal->ValueAt(2), Value(int64_t{8}));
  EXPECT_EQ(*ordinal->CoordinateOf(4.0), 1);
  EXPECT_EQ(*ordinal->CoordinateOf(int64_t{4}), 1);
  EXPECT_THAT(ordinal->CoordinateOf(int64_t{3}).error().message,
              HasSubstr("3 is not one of 2, 4, 8"));
  EXPECT_NEAR(EmbeddingOf(*ordinal, 1)[0], 0.5, 1e-12);
}

TEST(Categorical, IsTheNumberItsTextsSpell) {
  const auto numbers = MakeCategorical("unroll", {"8", "0", "True"});
  EXPECT_EQ(numbers->NumberAt(0), 8);
  EXPECT_EQ(numbers->NumberAt(2), 1);
  EXPECT_EQ(*numbers->CoordinateOf(int64_t{0}), 1);
  EXPECT_EQ(MakeCategorical("mixed", {"8", "eight"})->NumberAt(0), 0);
}

TEST(Prior, WeighsValues) {
  const auto tile = MakeOrdinal("tile", {1, 2, 4, 8});
  ASSERT_TRUE(tile->SetPrior({0, 1, 3, 0}).ok());
  EXPECT_EQ(tile->PriorDensity(2), 3);
  base::RandomStream random(5);
  int fours = 0;
  for (int i = 0; i < 4000; ++i) {
    const double drawn = tile->SamplePrior(random);
    ASSERT_TRUE(drawn == 1 || drawn == 2);
    fours += drawn == 2;
  }
  EXPECT_NEAR(fours, 3000, 150);
  EXPECT_FALSE(tile->SetPrior({1, 2}).ok());
  EXPECT_FALSE(tile->SetPrior({0, 0, 0, 0}).ok());
  EXPECT_FALSE(tile->SetPrior({1, -1, 1, 1}).ok());
  EXPECT_FALSE(tile->SetPrior({1, NAN, 1, 1}).ok());
}

TEST(Prior, OfARealIsLinearBetweenKnots) {
  const auto rate = MakeReal("rate", 10, 20);
  ASSERT_TRUE(rate->SetPrior({0, 1, 0}).ok());
  EXPECT_NEAR(rate->PriorDensity(15), 2, 1e-12);
  EXPECT_NEAR(rate->PriorDensity(12.5), 1, 1e-12);
  base::RandomStream random(6);
  int first_quarter = 0;
  for (int i = 0; i < 8000; ++i) first_quarter += rate->SamplePrior(random) < 12.5;
  EXPECT_NEAR(first_quarter, 1000, 130);  // an eighth of the triangle
}

TEST(Parameter, DefaultsAreOfTheDomain) {
  const auto tile = MakeOrdinal("tile", {1, 2, 4});
  EXPECT_TRUE(tile->SetDefault(int64_t{4}).ok());
  EXPECT_EQ(tile->default_coordinate(), 2);
  EXPECT_THAT(tile->SetDefault(int64_t{3}).error().message, HasSubstr("default of 'tile'"));
}

TEST(Parameter, DomainsWithoutSenseAreRefused) {
  EXPECT_THROW(MakeReal("x", 2, 1), InputError);
  EXPECT_EQ(MakeReal("x", 2.5, 2.5)->Cardinality(), 1);
  EXPECT_THROW(MakeReal("x", 0, 1, Scale::kLog), InputError);
  EXPECT_THROW(MakeReal("x", NAN, 1), InputError);
  EXPECT_THROW(MakeInteger("x", 2, 1), InputError);
  EXPECT_THROW(MakeInteger("x", 0, 8, Scale::kLog), InputError);
  EXPECT_THROW(MakeInteger("x", INT64_MIN, INT64_MAX), InputError);
  EXPECT_THROW(MakeOrdinal("x", std::vector<double>{}), InputError);
  EXPECT_THROW(MakeOrdinal("x", {1, 2, 1}), InputError);
  EXPECT_THROW(MakeOrdinal("x", {1, INFINITY}), InputError);
  EXPECT_THROW(MakeOrdinal("x", {-1, 2}, Scale::kLog), InputError);
  EXPECT_THROW(MakeCategorical("x", {}), InputError);
  EXPECT_THROW(MakeCategorical("x", {"a", "a"}), InputError);
  EXPECT_THROW(MakePermutation("x", 0), InputError);
  EXPECT_THROW(MakePermutation("x", 7, PermutationMetric::kNaive), InputError);
  EXPECT_THROW(MakeFactorization("x", 0, 2), InputError);
  EXPECT_THROW(MakeFactorization("x", 8, 0), InputError);
  EXPECT_THROW(MakeFactorization("x", 13, 1, 4), InputError);
  EXPECT_THROW(MakeFactorization("x", int64_t{1} << 40, 64), InputError);
}

}  // namespace
}  // namespace bayloom::space
