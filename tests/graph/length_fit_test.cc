// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/length_fit.h"

#include <gtest/gtest.h>

#include <algorithm>

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

int64_t ExtentBehind(const std::vector<Strided>& layers, int64_t extent) {
  for (const Strided& layer : layers) extent = layer(extent);
  return extent;
}

/// What the fit finds for extents one behind the other, with further points until nothing is
/// undecided.
std::vector<Length> FindAll(const std::vector<Symbol>& symbols,
                            const std::vector<Strided>& layers) {
  std::vector<SymbolValues> points = AllPoints(symbols);
  while (true) {
    LengthFit fit(symbols, points);
    std::vector<Length> found;
    for (size_t count = 1; count <= layers.size(); ++count) {
      std::vector<int64_t> values;
      for (const SymbolValues& point : points) {
        values.push_back(ExtentBehind({layers.begin(), layers.begin() + count}, point[0]));
      }
      const std::optional<Length> length = fit.Find(values);
      if (!length) return found;
      found.push_back(*length);
    }
    if (fit.undecided().empty()) return found;
    points.insert(points.end(), fit.undecided().begin(), fit.undecided().end());
  }
}

TEST(LengthFit, FindsExtentsOfStridedLayersForAllLengths) {
  const std::vector<Symbol> symbols = {{"n", 600, 3000}};
  base::RandomStream stream(4);
  for (int network = 0; network < 100; ++network) {
    std::vector<Strided> layers = {{1, 1, 0}};  // the input
    for (int layer = 0; layer < 3; ++layer) {
      layers.push_back({1 + stream.UniformInt(7), 1 + stream.UniformInt(8), stream.UniformInt(4)});
    }
    const std::vector<Length> found = FindAll(symbols, layers);
    ASSERT_EQ(found.size(), layers.size());
    for (size_t count = 1; count <= layers.size(); ++count) {
      for (int64_t n = 600; n <= 3000; ++n) {
        ASSERT_EQ(found[count - 1].Evaluate(std::vector<int64_t>{n}),
                  ExtentBehind({layers.begin(), layers.begin() + count}, n))
            << found[count - 1].ToString(symbols) << " for n=" << n;
      }
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
  const Length height = Length::Of(0), width = Length::Of(1);
  const Length half = Length::Floor(height, 2), third = Length::Floor(width + 2, 3);
  EXPECT_EQ(find([](int64_t h, int64_t w) { return h * w; }), height * width);
  EXPECT_EQ(find([](int64_t h, int64_t) { return h; }), height);
  EXPECT_EQ(find([](int64_t h, int64_t) { return h / 2; }), half);
  EXPECT_EQ(find([](int64_t, int64_t w) { return w; }), width);
  EXPECT_EQ(find([](int64_t, int64_t w) { return (w + 2) / 3; }), third);
  EXPECT_EQ(find([](int64_t h, int64_t w) { return h / 2 * ((w + 2) / 3); }), half * third);
  EXPECT_EQ(find([](int64_t h, int64_t w) { return h * w + h / 2 * ((w + 2) / 3) + 4; }),
            height * width + half * third + 4);
  EXPECT_EQ(find([](int64_t h, int64_t) { return -(h / 2); }), Length() - half);
  EXPECT_EQ(find([](int64_t h, int64_t) { return h / 2 * 6; }), half * Length(6));
  EXPECT_EQ(find([](int64_t h, int64_t w) { return h % 7 * (w % 5); }), std::nullopt);
}

TEST(LengthFit, FindsTheLargerAndTheSmallerOneOfTwo) {
  const std::vector<Symbol> symbols = {{"h", 8, 640}, {"w", 4, 320}};
  const std::vector<SymbolValues> points = AllPoints(symbols);
  LengthFit fit(symbols, points);
  const auto find = [&](const auto& length) {
    std::vector<int64_t> values;
    for (const SymbolValues& point : points) values.push_back(length(point[0], point[1]));
    return fit.Find(values);
  };
  const auto half = [](int64_t h, int64_t) { return h / 2; };
  const auto width = [](int64_t, int64_t w) { return w; };
  const auto larger = [](int64_t h, int64_t w) { return std::max(h / 2, w); };
  const auto smaller = [](int64_t h, int64_t w) { return std::min(h / 2, w) + 3; };
  ASSERT_TRUE(find(width) && find([](int64_t h, int64_t) { return h; }) && find(half));
  ASSERT_TRUE(find([](int64_t h, int64_t w) { return std::min(h / 2, w); }));
  const auto max = find(larger), min = find(smaller);
  ASSERT_TRUE(max && min);
  for (int64_t h = 8; h <= 640; h += 7) {
    for (int64_t w = 4; w <= 320; w += 5) {
      EXPECT_EQ(max->Evaluate(std::vector<int64_t>{h, w}), larger(h, w));
      EXPECT_EQ(min->Evaluate(std::vector<int64_t>{h, w}), smaller(h, w));
    }
  }
}

TEST(LengthFit, IsAPolynomialWhereThereAreNoOtherPoints) {
  const std::vector<Symbol> symbols = {{"n", 1, 99}};
  LengthFit fit(symbols, SamplePoints(symbols));
  EXPECT_EQ(fit.Find(std::vector<int64_t>{99 * 99, 98 * 98, 97 * 97}),
            Length::Of(0) * Length::Of(0));
}

}  // namespace
}  // namespace bayloom::graph
