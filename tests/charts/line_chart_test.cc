// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/charts/line_chart.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/count_of.h"

namespace bayloom::charts {
namespace {

/// The d attribute of the path with this title.
std::string PathOf(const std::string& svg, const std::string& title) {
  const size_t end = svg.find("<title>" + title + "</title>");
  const size_t begin = svg.rfind("<path d=\"", end) + 9;
  return svg.substr(begin, svg.find('"', begin) - begin);
}

TEST(AxisTicks, AreRoundAndWithinTheRange) {
  EXPECT_EQ(AxisTicks(0, 100, false, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(AxisTicks(3, 17, false, 4), (std::vector<double>{5, 10, 15}));
  EXPECT_EQ(AxisTicks(1, 100, true, 7), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  EXPECT_EQ(AxisTicks(1, 1e5, true, 7), (std::vector<double>{1, 10, 100, 1000, 1e4, 1e5}));
}

TEST(LineChart, MapsTheDataToThePlotsCorners) {
  LineChart chart;
  chart.series = {{"a", {{0, 0}, {10, 5}}}, {"b", {{0, 1}, {10, 1}}}};
  const std::string svg = chart.ToSvg();
  EXPECT_EQ(PathOf(svg, "a"), "M72.0 408.0L654.0 40.0");
  EXPECT_EQ(CountOf(svg, "<svg "), 1);
  EXPECT_EQ(CountOf(svg, "</svg>"), 1);
}

TEST(LineChart, StepsHoldTheirValue) {
  LineChart chart;
  chart.series = {{"best", {{0, 4}, {5, 2}, {10, 0}}, /*steps=*/true}};
  EXPECT_EQ(PathOf(chart.ToSvg(), "best"), "M72.0 40.0H458.0V224.0H844.0V408.0");
}

TEST(LineChart, LeavesOutWhatCannotBeShown) {
  LineChart chart;
  chart.log_y = true;
  const double infinity = std::numeric_limits<double>::infinity();
  chart.series = {{"best", {{0, infinity}, {1, 0}, {2, 10}, {3, 1}}}, {"none", {}}};
  const std::string svg = chart.ToSvg();
  EXPECT_EQ(PathOf(svg, "best"), "M72.0 40.0L654.0 408.0");
  EXPECT_EQ(CountOf(svg, "nan"), 0);
  EXPECT_EQ(CountOf(svg, "inf"), 0);
}

TEST(LineChart, NamesAreEscapedAndLongLegendsAreCut) {
  LineChart chart;
  for (int i = 0; i < 40; ++i) chart.series.push_back({"<" + std::to_string(i) + "&>", {{1, 2}}});
  const std::string svg = chart.ToSvg();
  EXPECT_EQ(CountOf(svg, "<0&"), 0);
  EXPECT_GT(CountOf(svg, "&lt;0&amp;&gt;"), 0);
  EXPECT_EQ(CountOf(svg, " more</text>"), 1);
}

}  // namespace
}  // namespace bayloom::charts
