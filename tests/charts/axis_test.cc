// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/charts/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "bayloom/base/random.h"
#include "benchmarks/charts/line_chart.h"

namespace bayloom::charts {
namespace {

constexpr double kMaxMagnitude = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

/// A number of any sign and size, with a liking for the extremes.
double AnyNumber(base::RandomStream& random) {
  static const double kExtremes[] = {0, 1, kTiny, kMaxMagnitude, 1e17, 1e-300, 1e300, 0.1};
  const double sign = random.UniformInt(2) == 0 ? 1 : -1;
  if (random.UniformInt(3) == 0) {
    return sign * kExtremes[random.UniformInt(std::size(kExtremes))];
  }
  return sign * std::pow(10, 600 * random.Uniform() - 300);
}

/// So many doubles further up.
double Above(double value, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) value = std::nextafter(value, INFINITY);
  return value;
}

void CheckTicks(double low, double high, bool logarithmic, int most) {
  const std::vector<double> ticks = AxisTicks(low, high, logarithmic, most);
  SCOPED_TRACE(testing::Message() << low << " to " << high << " log " << logarithmic);
  ASSERT_GE(ticks.size(), low < high ? 2u : 1u);
  ASSERT_LE(static_cast<int>(ticks.size()), most + 2);
  const long double range = static_cast<long double>(high) - low;
  EXPECT_GE(ticks.front(), low - 1e-8L * range);
  EXPECT_LE(ticks.back(), high + 1e-8L * range);
  for (size_t i = 1; i < ticks.size(); ++i) ASSERT_LT(ticks[i - 1], ticks[i]);
  if (logarithmic || low == high) return;
  // They cover the range: no more than half of it is left at either end.
  EXPECT_LE(ticks.front() - static_cast<long double>(low), 0.51L * range);
  EXPECT_LE(high - static_cast<long double>(ticks.back()), 0.51L * range);
}

TEST(AxisTicksProperty, AreFewAscendingAndCoverWhateverTheRange) {
  base::RandomStream random(1);
  for (int round = 0; round < 20000; ++round) {
    const double a = AnyNumber(random);
    const double b = random.UniformInt(2) == 0 ? Above(a, std::int64_t{1} << random.UniformInt(8))
                                               : AnyNumber(random);
    if (!std::isfinite(b)) continue;
    const int most = 6 + static_cast<int>(random.UniformInt(5));
    CheckTicks(std::min(a, b), std::max(a, b), false, most);
    if (a != 0 && b != 0) {
      const double low = std::min(std::abs(a), std::abs(b)),
                   high = std::max(std::abs(a), std::abs(b));
      CheckTicks(low, high, true, most);
    }
  }
}

TEST(AxisTicksProperty, OfNoRangeThereAreNone) {
  EXPECT_TRUE(AxisTicks(0, INFINITY, false, 5).empty());
  EXPECT_TRUE(AxisTicks(std::nan(""), 1, false, 5).empty());
  EXPECT_TRUE(AxisTicks(2, 1, false, 5).empty());
  EXPECT_EQ(AxisTicks(3, 3, false, 5), std::vector<double>{3});
  EXPECT_EQ(AxisTicks(1.0, 1.0000000000000002, false, 7),
            (std::vector<double>{1.0, 1.0000000000000002}));
}

TEST(AxisTicksProperty, LabelsTellTicksApart) {
  EXPECT_EQ(TickLabels({0, 20, 40}), (std::vector<std::string>{"0", "20", "40"}));
  base::RandomStream random(2);
  for (int round = 0; round < 2000; ++round) {
    const double low = AnyNumber(random), high = Above(low, 1 + random.UniformInt(9));
    if (!std::isfinite(high)) continue;
    const std::vector<std::string> labels = TickLabels(AxisTicks(low, high, false, 7));
    EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size());
  }
}

TEST(Axis, HasAPlaceForEveryValueItShows) {
  base::RandomStream random(3);
  for (int round = 0; round < 5000; ++round) {
    for (const bool logarithmic : {false, true}) {
      Axis axis(logarithmic, 10, 110);
      std::vector<double> values;
      for (int64_t i = random.UniformInt(4); i >= 0; --i) {
        const double value = values.empty() || random.UniformInt(2) == 0
                                 ? AnyNumber(random)
                                 : Above(values[0], random.UniformInt(3));
        if (!axis.Shows(value)) continue;
        values.push_back(value);
        axis.Include(value);
      }
      axis.Finish();
      for (const double value : values) {
        EXPECT_GE(axis.Pixel(value), 10 - 1e-6) << value;
        EXPECT_LE(axis.Pixel(value), 110 + 1e-6) << value;
      }
      for (const double tick : axis.Ticks(7)) EXPECT_TRUE(std::isfinite(axis.Pixel(tick)));
      EXPECT_GE(axis.Ticks(7).size(), 2u);
    }
  }
}

}  // namespace
}  // namespace bayloom::charts
