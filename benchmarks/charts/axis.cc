// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/charts/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/charts/line_chart.h"

namespace bayloom::charts {
namespace {

constexpr double kMaxValue = std::numeric_limits<double>::max();

/// Multiples of a round step within [low, high], counted: their number does not depend on whether
/// a sum of doubles grows.
std::vector<double> LinearTicks(double low, double high, int most) {
  const long double range = static_cast<long double>(high) - low;
  const long double rough = range / most;
  const long double power = std::pow(10.0L, std::floor(std::log10(rough)));
  long double step = 10 * power;
  for (const long double factor : {5.0L, 2.0L, 1.0L}) {
    if (factor * power >= rough) step = factor * power;
  }
  const long double slack = 1e-9L * range;
  const long double first = std::ceil((low - slack) / step);
  std::vector<double> ticks;
  for (int i = 0; i <= most + 1; ++i) {
    const long double exact = (first + i) * step;
    if (exact > high + slack) break;
    const double tick = first + i == 0 ? 0 : static_cast<double>(exact);
    // Neighbours can be the same double where the range is a few of them.
    if (std::isfinite(tick) && (ticks.empty() || tick > ticks.back())) ticks.push_back(tick);
  }
  return ticks;
}

/// Products of these factors and of every `stride`-th power of ten.
std::vector<double> PowerTicks(double low, double high, const std::vector<int>& factors,
                               int stride) {
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride != 0) continue;
    for (const int factor : factors) {
      const long double tick = factor * std::pow(10.0L, exponent);
      if (tick >= low * (1 - 1e-9L) && tick <= high * (1 + 1e-9L)) {
        ticks.push_back(static_cast<double>(tick));
      }
    }
  }
  return ticks;
}

std::vector<double> LogarithmicTicks(double low, double high, int most) {
  std::vector<double> ticks;
  for (const std::vector<int>& factors : {std::vector<int>{1, 2, 5}, {1, 3}, {1}}) {
    ticks = PowerTicks(low, high, factors, 1);
    if (std::ssize(ticks) <= most + 1) return ticks;
  }
  for (const int stride : {2, 5, 10, 20, 50, 100, 200}) {
    ticks = PowerTicks(low, high, {1}, stride);
    if (std::ssize(ticks) <= most + 1) break;
  }
  return ticks;
}

}  // namespace

std::vector<double> AxisTicks(double low, double high, bool logarithmic, int most) {
  most = std::clamp(most, 1, 100);
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) return {};
  if (low == high) return {low};
  std::vector<double> ticks;
  if (logarithmic && low > 0) ticks = LogarithmicTicks(low, high, most);
  if (ticks.size() < 2) ticks = LinearTicks(low, high, most);
  if (ticks.size() < 2) ticks = {low, high};
  return ticks;
}

bool Axis::Shows(double value) const {
  return std::isfinite(value) && (!logarithmic_ || value > 0);
}

void Axis::Include(double value) {
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

void Axis::Finish() {
  if (low_ > high_) low_ = high_ = 1;
  if (!logarithmic_ && low_ > 0 && low_ < 0.3 * high_) low_ = 0;
  if (low_ < high_) return;
  const double margin = std::max(0.5 * std::abs(low_), 0.5);
  if (logarithmic_) {
    low_ = std::max(low_ / 2, std::numeric_limits<double>::denorm_min());
    high_ = high_ > kMaxValue / 2 ? kMaxValue : high_ * 2;
  } else {
    low_ = low_ < margin - kMaxValue ? -kMaxValue : low_ - margin;
    high_ = high_ > kMaxValue - margin ? kMaxValue : high_ + margin;
  }
}

long double Axis::Scale(double value) const {
  return logarithmic_ ? std::log10(static_cast<long double>(value)) : value;
}

double Axis::Pixel(double value) const {
  const long double range = Scale(high_) - Scale(low_);
  const auto share = static_cast<double>(range > 0 ? (Scale(value) - Scale(low_)) / range : 0.5L);
  return first_pixel_ + share * (last_pixel_ - first_pixel_);
}

std::vector<double> Axis::Ticks(int most) const {
  return AxisTicks(low_, high_, logarithmic_, most);
}

std::vector<std::string> TickLabels(const std::vector<double>& ticks) {
  constexpr int kMinCount = 6, kMost = 17;  // significant digits; 17 tell all doubles apart
  std::vector<std::string> labels;
  for (int digits = kMinCount; digits <= kMost; ++digits) {
    labels.clear();
    for (const double tick : ticks) labels.push_back(fmt::format("{:.{}g}", tick, digits));
    if (std::ranges::adjacent_find(labels) == labels.end()) break;
  }
  return labels;
}

}  // namespace bayloom::charts
