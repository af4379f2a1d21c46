// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/length_fit.h"

#include <gtest/gtest.h>

#include "bayloom/base/random.h"

namespace bayloom::graph {
namespace {

std::vector<SymbolValues> AllPoints(std::span<const Symbol> symbols) {
  std::vector<SymbolValues> points = SamplePoints(symbols);
  const std::vector<SymbolValues> between = PointsBetween(symbols);
  points.insert(points.end(), between.begin(), between.end());
  return points;
}

/// A convolution or window: the extent of the result from that of the input.
struct Strided {
  int64_t kernel, stride, padding;
  int64_t operator()(int64_t extent) const { return (extent + padding - kernel) / stride + 1; }
};

TEST(LengthFit, FindsExtentsOfStridedLayersForAllLengths) {
  const std::vector<Symbol> symbols = {{"n", 200, 3000}};
  const std::vector<SymbolValues> points = AllPoints(symbols);
  base::RandomStream stream(4);
  for (int network = 0; network < 100; ++network) {
    LengthFit fit(symbols, points);
    std::vector<Strided> layers = {{1, 1, 0}};  // the input
    for (int layer = 0; layer < 6; ++layer) {
      const auto extent_at = [&](int64_t n) {
        for (const Strided& each : layers) n = each(n);
        return n;
      };
      std::vector<int64_t> values;
      for (const SymbolValues& point : points) values.push_back(extent_at(point[0]));
      const std::optional<Length> found = fit.Find(values);
      ASSERT_TRUE(found.has_value());
      for (int64_t n = 200; n <= 3000; ++n) {
        ASSERT_EQ(found->Evaluate(std::vector<int64_t>{n}), extent_at(n))
            << found->ToString(symbols) << " for n=" << n;
      }
      layers.push_back({1 + stream.UniformInt(7), 1 + stream.UniformInt(3), stream.UniformInt(4)});
    }
  }
}

TEST(LengthFit, FindsWhatIsComputedFromExtents) {
  const std::vector<Symbol> symbols = {{"h", 40, 200}, {"w", 30, 301}};
  const std::vector<SymbolValues> points = AllPoints(symbols);
  LengthFit fit(symbols, points);
  const auto find = [&](const auto& length_at) {
    std::vector<int64_t> values;
    for (const SymbolValues& point : points) values.push_back(length_at(point[0], point[1]));
    return fit.Find(values);
  };
  const Length h = Length::Of(0), w = Length::Of(1);
  const Length half = Length::Floor(h, 2), third = Length::Floor(w + 2, 3);
  EXPECT_EQ(find([](int64_t a, int64_t b) { return a * b; }), h * w);
  EXPECT_EQ(find([](int64_t a, int64_t) { return a; }), h);
  EXPECT_EQ(find([](int64_t a, int64_t) { return a / 2; }), half);
  EXPECT_EQ(find([](int64_t, int64_t b) { return b; }), w);
  EXPECT_EQ(find([](int64_t, int64_t b) { return (b + 2) / 3; }), third);
  EXPECT_EQ(find([](int64_t a, int64_t b) { return a / 2 * ((b + 2) / 3); }), half * third);
  EXPECT_EQ(find([](int64_t a, int64_t b) { return a * b + a / 2 * ((b + 2) / 3) + 4; }),
            h * w + half * third + 4);
  EXPECT_EQ(find([](int64_t a, int64_t) { return -(a / 2); }), Length() - half);
  EXPECT_EQ(find([](int64_t a, int64_t) { return a / 2 * 6; }), half * Length(6));
  EXPECT_EQ(find([](int64_t a, int64_t b) { return a % 7 * (b % 5); }), std::nullopt);
}

TEST(LengthFit, IsAPolynomialWhereThereAreNoOtherPoints) {
  const std::vector<Symbol> symbols = {{"n", 1, 99}};
  LengthFit fit(symbols, SamplePoints(symbols));
  EXPECT_EQ(fit.Find(std::vector<int64_t>{99 * 99, 98 * 98, 97 * 97}),
            Length::Of(0) * Length::Of(0));
}

}  // namespace
}  // namespace bayloom::graph
