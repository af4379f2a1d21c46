// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/charts/histogram.h"

#include <gtest/gtest.h>

#include "tests/count_of.h"

namespace bayloom::charts {
namespace {

TEST(Histogram, SharesCountEveryValueOnce) {
  Histogram histogram;
  histogram.bins = 4;
  histogram.series = {{"a", {0, 0.1, 0.25, 0.99, 1, 7, -1, 0.5}}};
  EXPECT_EQ(histogram.Shares(histogram.series[0]),
            (std::vector<double>{0.375, 0.125, 0.125, 0.375}));
  EXPECT_EQ(histogram.Shares({"none", {}}), (std::vector<double>{0, 0, 0, 0}));
}

TEST(Histogram, DrawsABarPerSeriesAndInterval) {
  Histogram histogram;
  histogram.title = "speed < 1";
  histogram.bins = 5;
  histogram.series = {{"a", {0.5}}, {"b", {0.1, 0.9}}};
  const std::string svg = histogram.ToSvg();
  EXPECT_EQ(CountOf(svg, "<rect x"), 2 * 5 + 2);  // the legend's included
  EXPECT_NE(svg.find("speed &lt; 1"), std::string::npos);
}

}  // namespace
}  // namespace bayloom::charts
