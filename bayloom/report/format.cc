// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/format.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <iterator>

namespace bayloom::report {
namespace {

/// Seconds: a thousand years. What is longer is no duration but a mistake.
constexpr double kMaxLengthScale = 3.2e10;

/// Three significant digits, without an exponent: 1.23, 12.3, 123.
std::string ThreeDigits(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string WithSiPrefix(double value, const char* unit) {
  if (!std::isfinite(value)) return "-";
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  if (std::abs(value) >= 1e21) return fmt::format("{:.3g} {}", value, unit);
  while (std::abs(value) >= 999.5 && prefix < 5) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", ThreeDigits(value), kPrefixes[prefix], unit);
}

}  // namespace

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 0.9995e-6) return ThreeDigits(seconds * 1e9) + " ns";
  if (size < 0.9995e-3) return ThreeDigits(seconds * 1e6) + " us";
  if (size < 0.9995) return ThreeDigits(seconds * 1e3) + " ms";
  if (size < 59.95) return ThreeDigits(seconds) + " s";
  if (size > kMaxLengthScale) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string FormatRate(double flops_per_second) { return WithSiPrefix(flops_per_second, "FLOP/s"); }

std::string FormatFlops(double flops) { return WithSiPrefix(flops, "FLOP"); }

std::string FormatEnergy(double pj, int digits) {
  if (!std::isfinite(pj)) return "-";
  constexpr const char* kUnits[] = {"pJ", "nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ"};
  size_t unit = 0;
  while (std::abs(pj) >= 999.5 && unit + 1 < std::size(kUnits)) {
    pj /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}g} {}", pj, digits, kUnits[unit]);
}

std::string FormatCount(int64_t count) {
  std::string digits = std::to_string(count);
  const auto first = static_cast<int64_t>(count < 0);
  for (auto i = static_cast<int64_t>(digits.size()) - 3; i > first; i -= 3)
    digits.insert(i, 1, ',');
  return digits;
}

std::string FormatRatio(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  return std::abs(ratio) < 1e15 ? ThreeDigits(ratio) + "x" : fmt::format("{:.3g}x", ratio);
}

std::string FormatValue(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "-";
}

std::string FormatTime(int64_t microseconds) {
  const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
  if (std::abs(static_cast<double>(seconds)) > 200 * kMaxLengthScale) return "-";
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(seconds));
}

}  // namespace bayloom::report
