// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/length.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "bayloom/base/random.h"

namespace bayloom::graph {
namespace {

const std::vector<Symbol> kSymbols = {{"past", 0, 20}, {"now", 1, 6}, {"height", 32, 320, 32}};
const Length kPast = Length::Of(0), kNow = Length::Of(1), kHeight = Length::Of(2);

/// A sum of products of two symbols at most, and what it is computed from.
Length RandomLength(base::RandomStream& stream) {
  Length sum = stream.UniformInt(9) - 4;
  for (int term = 0; term < 3; ++term) {
    const Length a = Length::Of(static_cast<int>(stream.UniformInt(3)));
    const Length b = Length::Of(static_cast<int>(stream.UniformInt(3)));
    sum = sum + a * b * Length(stream.UniformInt(7) - 3) + b;
  }
  return sum;
}

TEST(Length, ArithmeticIsThatOfTheValues) {
  base::RandomStream stream(3);
  for (int i = 0; i < 200; ++i) {
    const Length a = RandomLength(stream), b = RandomLength(stream);
    const std::vector<int64_t> at = {stream.UniformInt(21), 1 + stream.UniformInt(6),
                                     32 * (1 + stream.UniformInt(10))};
    EXPECT_EQ((a + b).Evaluate(at), a.Evaluate(at) + b.Evaluate(at));
    EXPECT_EQ((a - b).Evaluate(at), a.Evaluate(at) - b.Evaluate(at));
    EXPECT_EQ((a * b).Evaluate(at), a.Evaluate(at) * b.Evaluate(at));
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ((a + b) - b, a);
    EXPECT_EQ((a * Length(-6)) / -6, a);
    const tensor::SizeRange range = a.Range(kSymbols);
    EXPECT_LE(range.smallest, a.Evaluate(at));
    EXPECT_GE(range.largest, a.Evaluate(at));
  }
}

TEST(Length, OnlyWhatDependsOnNothingIsConstant) {
  EXPECT_EQ(Length(7).AsConstant(), 7);
  EXPECT_EQ((kPast - kPast).AsConstant(), 0);
  EXPECT_EQ(kPast.AsConstant(), std::nullopt);
  EXPECT_EQ((Length(1) / 2).AsConstant(), std::nullopt);
}

TEST(Length, FractionsAreExactOrNoLengths) {
  const Length eighth = kHeight / 8 - 1;
  EXPECT_EQ(eighth.Evaluate(std::vector<int64_t>{0, 1, 64}), 7);
  EXPECT_THROW((kNow / 2).Evaluate(std::vector<int64_t>{0, 3, 32}), std::logic_error);
}

/// A quotient of sums and quotients, rounded down.
Length RandomQuotient(base::RandomStream& stream) {
  Length quotient = stream.UniformInt(9);
  for (int step = 0; step < 4; ++step) {
    const Length symbol = Length::Of(static_cast<int>(stream.UniformInt(3)));
    const int64_t factor = 1 + stream.UniformInt(4), divisor = 1 + stream.UniformInt(6);
    quotient = Length::Floor(quotient + symbol * factor + stream.UniformInt(9), divisor);
  }
  return quotient;
}

TEST(Length, QuotientsAreRoundedDown) {
  base::RandomStream stream(5);
  for (int i = 0; i < 500; ++i) {
    const std::vector<int64_t> at = {stream.UniformInt(21), 1 + stream.UniformInt(6),
                                     32 * (1 + stream.UniformInt(10))};
    const Length a = RandomQuotient(stream);
    const int64_t offset = stream.UniformInt(40), divisor = 1 + stream.UniformInt(9);
    const Length quotient = Length::Floor(a + offset, divisor);
    EXPECT_EQ(quotient.Evaluate(at), (a.Evaluate(at) + offset) / divisor);
    EXPECT_EQ(Length::Floor(a * divisor + divisor - 1, divisor), a);
    EXPECT_EQ(Length::Floor(Length::Floor(a + offset, divisor) + 3, 2),
              Length::Floor(a + offset + divisor * 3, divisor * 2));
    const tensor::SizeRange range = quotient.Range(kSymbols);
    EXPECT_LE(range.smallest, quotient.Evaluate(at));
    EXPECT_GE(range.largest, quotient.Evaluate(at));
  }
  const Length half = Length::Floor(kPast + 1, 2);
  EXPECT_EQ(half.Range(kSymbols), (tensor::SizeRange{0, 10}));
  EXPECT_EQ((half * half + half).Range(kSymbols), (tensor::SizeRange{0, 110}));
  EXPECT_EQ((kPast - Length::Floor(kPast, 2) * 2).AsConstant(), std::nullopt);
  EXPECT_EQ(half.ToString(kSymbols), "floor((past + 1)/2)");
  EXPECT_EQ((Length::Floor(kHeight, 3) - 2).ToString(kSymbols), "floor(height/3) - 2");
}

TEST(Length, PartsAreBetweenNothingAndAll) {
  const Length rows = Length::Part(kPast - 8, 5), all = kPast + kNow;
  for (int64_t past = 0; past <= 20; ++past) {
    const std::vector<int64_t> at = {past, 3, 32};
    EXPECT_EQ(rows.Evaluate(at), std::clamp<int64_t>(past - 8, 0, 5));
    EXPECT_EQ((rows + all).Evaluate(at), rows.Evaluate(at) + past + 3);
  }
  EXPECT_EQ(rows.Range(kSymbols), (tensor::SizeRange{0, 5}));
  EXPECT_EQ((rows * rows + kNow).Range(kSymbols), (tensor::SizeRange{1, 31}));
  EXPECT_EQ(rows, Length::Part(kPast - 8, 5));
  EXPECT_NE(rows, Length::Part(kPast - 8, 6));
  EXPECT_EQ(Length::Part(30, 5).AsConstant(), 5);
  EXPECT_EQ(rows.ToString(kSymbols), "part(past - 8, 5)");
}

TEST(Length, RangesAreExactWhereItRisesOrFalls) {
  EXPECT_EQ((kPast + kNow).Range(kSymbols), (tensor::SizeRange{1, 26}));
  EXPECT_EQ((Length(30) - kPast).Range(kSymbols), (tensor::SizeRange{10, 30}));
  const Length smaller = kHeight / 32 - 1;
  EXPECT_EQ((smaller * smaller).Range(kSymbols), (tensor::SizeRange{0, 81}));
}

TEST(Length, TextNamesTheSymbols) {
  EXPECT_EQ((kPast + kNow).ToString(kSymbols), "past + now");
  EXPECT_EQ((kHeight / 8 * kNow * Length(3) - 1).ToString(kSymbols), "3*now*height/8 - 1");
  EXPECT_EQ((Length(2) - kPast).ToString(kSymbols), "-past + 2");
  EXPECT_EQ(Length(0).ToString(kSymbols), "0");
  EXPECT_EQ(kSymbols[2].ToString(), "height=32..320:32");
}

TEST(TypicalLengths, OfSeenOnesStandForEqualSharesOfTheRuns) {
  // Half of the runs are short, a sixth is long.
  const auto points = TypicalLengths({{{512}, 10}, {{8}, 30}, {{100}, 5}, {{90}, 5}, {{80}, 10}});
  EXPECT_EQ(points, (std::vector<std::vector<int64_t>>{{512}, {100}, {80}, {8}, {8}, {8}}));
  EXPECT_EQ(TypicalLengths({{{3, 4}}}), (std::vector<std::vector<int64_t>>(6, {3, 4})));
}

}  // namespace
}  // namespace bayloom::graph
