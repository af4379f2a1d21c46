// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Charts of hostile names and values, read by the XML parser of Python, which the build needs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "bayloom/base/random.h"
#include "benchmarks/charts/histogram.h"
#include "benchmarks/charts/line_chart.h"
#include "tests/temporary_folder.h"

namespace bayloom::charts {
namespace {

std::string HostileText(base::RandomStream& random) {
  static const std::string kParts[] = {"<script>", "&amp", "]]>",          "\x1b[31m", "\xff",
                                       "\"'",      "-->",  "\xef\xbf\xbf", "\r\n",     "plain"};
  std::string text;
  for (int64_t i = random.UniformInt(8); i > 0; --i) {
    text += random.UniformInt(3) == 0 ? std::string(1, static_cast<char>(random.UniformInt(256)))
                                      : kParts[random.UniformInt(std::size(kParts))];
  }
  return text;
}

double HostileNumber(base::RandomStream& random) {
  static const double kNumbers[] = {0, -1, 1e300, -1e308, 1e-310, 1e17, 1e17 + 16, INFINITY, NAN};
  return kNumbers[random.UniformInt(std::size(kNumbers))];
}

TEST(Svg, IsWellFormedWhateverNamesAndValuesAre) {
  if (std::system("python3 -c 'import xml.dom.minidom' 2>/dev/null") != 0) {
    GTEST_SKIP() << "there is no Python with its XML parser";
  }
  const TemporaryFolder folder;
  base::RandomStream random(4);
  for (int i = 0; i < 60; ++i) {
    LineChart chart;
    chart.title = HostileText(random);
    chart.x_label = HostileText(random);
    chart.y_label = HostileText(random);
    chart.log_y = random.UniformInt(2) == 0;
    Histogram histogram;
    histogram.title = chart.title;
    histogram.x_label = chart.x_label;
    for (int64_t series = random.UniformInt(4); series > 0; --series) {
      chart.series.push_back({HostileText(random), {}, random.UniformInt(2) == 0});
      histogram.series.push_back({HostileText(random), {}});
      for (int64_t point = random.UniformInt(5); point > 0; --point) {
        chart.series.back().points.emplace_back(HostileNumber(random), HostileNumber(random));
        histogram.series.back().values.push_back(HostileNumber(random));
      }
    }
    for (const std::string& svg : {chart.ToSvg(), histogram.ToSvg()}) {
      EXPECT_EQ(svg.find("=\"nan"), std::string::npos);
      EXPECT_EQ(svg.find("=\"inf"), std::string::npos);
    }
    std::ofstream(folder / (std::to_string(i) + "-line.svg")) << chart.ToSvg();
    std::ofstream(folder / (std::to_string(i) + "-histogram.svg")) << histogram.ToSvg();
  }
  const std::string parse =
      "python3 -c 'import sys, xml.dom.minidom\n"
      "for name in sys.argv[1:]: xml.dom.minidom.parse(name)' " +
      folder.path() + "/*.svg";
  EXPECT_EQ(std::system(parse.c_str()), 0);
}

}  // namespace
}  // namespace bayloom::charts
