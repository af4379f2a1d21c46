// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/length_fit.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace bayloom::graph {
namespace {

/// Divisors of extents: strides of convolutions and windows.
constexpr int64_t kMaxDivisor = 64;

std::vector<int64_t> Differences(std::span<const int64_t> values) {
  std::vector<int64_t> differences;
  for (int64_t value : values) differences.push_back(value - values[0]);
  return differences;
}

/// a + factor * b
std::vector<int64_t> Sum(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                         int64_t factor) {
  std::vector<int64_t> sum;
  for (size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + factor * b[i]);
  return sum;
}

}  // namespace

LengthFit::LengthFit(std::vector<Symbol> symbols, std::vector<SymbolValues> points)
    : symbols_(std::move(symbols)),
      points_(std::move(points)),
      samples_(SamplePoints(symbols_).size()) {
  for (size_t s = SampledCount(symbols_); s < symbols_.size(); ++s) {
    Values values;
    for (const SymbolValues& point : points_) values.push_back(point[s]);
    AddKnown(Length::Of(static_cast<int>(s)), values);
  }
}

void LengthFit::AddKnown(const Length& length, std::span<const int64_t> values) {
  if (!places_.emplace(Differences(values), known_.size()).second) return;
  known_.push_back({length, {values.begin(), values.end()}});
}

bool LengthFit::Has(const Length& length, std::span<const int64_t> values) const {
  try {
    for (size_t p = 0; p < points_.size(); ++p) {
      if (length.Evaluate(points_[p]) != values[p]) return false;
    }
  } catch (const std::logic_error&) {  // it is no integer there
    return false;
  }
  return true;
}

std::optional<Length> LengthFit::Find(std::span<const int64_t> values) {
  const Values own(values.begin(), values.end());
  const auto failed = failed_.find(own);
  if (failed != failed_.end() && failed->second == known_.size()) return std::nullopt;
  const std::optional<Length> found = Fit(values);
  if (!found) failed_[own] = known_.size();
  if (found && !found->AsConstant()) AddKnown(*found, values);
  return found;
}

std::optional<Length> LengthFit::Fit(std::span<const int64_t> given) {
  const Values values(given.begin(), given.end());
  if (const auto shifted = Shifted(values)) return shifted;
  const Length polynomial = FitLength(symbols_, given.first(samples_));
  if (!is_general() || Has(polynomial, given)) return polynomial;
  if (const auto part = PartOf(values)) return part;
  for (auto of = known_.rbegin(); of != known_.rend(); ++of) {  // the operand's are the last ones
    if (const auto multiple = Multiple(*of, values)) return multiple;
    if (const auto quotient = Quotient(*of, values)) return quotient;
  }
  if (const auto rounded = Rounded(values)) return rounded;
  return Combination(values);
}

std::optional<Length> LengthFit::Rounded(const Values& values) {
  int64_t step = 0;
  for (int64_t value : values) step = std::gcd(step, value - values[0]);
  if (step < 2 || step > kMaxDivisor) return std::nullopt;
  Values steps;
  for (int64_t value : values) steps.push_back((value - values[0]) / step);
  for (auto of = known_.rbegin(); of != known_.rend(); ++of) {
    if (const auto quotient = Quotient(*of, steps)) return *quotient * step + values[0];
  }
  return std::nullopt;
}

std::optional<Length> LengthFit::PartOf(const Values& values) const {
  if (std::ranges::max(values) != values[0] || std::ranges::count(values, values[0]) < 2) {
    return std::nullopt;
  }
  for (size_t s = 0; s < symbols_.size(); ++s) {
    const Length part = Length::Part(Length::Of(static_cast<int>(s)), values[0]);
    if (Has(part, values)) return part;
  }
  for (const Known& known : known_) {
    const Length part = Length::Part(known.length, values[0]);
    if (Has(part, values)) return part;
  }
  return std::nullopt;
}

std::optional<Length> LengthFit::Shifted(const Values& values) const {
  if (std::ranges::count(values, values[0]) == std::ssize(values)) return values[0];
  const auto place = places_.find(Differences(values));
  if (place == places_.end()) return std::nullopt;
  const Known& known = known_[place->second];
  return known.length + (values[0] - known.values[0]);
}

std::optional<Length> LengthFit::Multiple(const Known& of, const Values& values) const {
  const auto [low, high] = std::ranges::minmax_element(of.values);
  const int64_t span = *high - *low;
  const int64_t rise = values[high - of.values.begin()] - values[low - of.values.begin()];
  const bool is_one = rise > 0 && (span % rise == 0 || rise % span == 0);
  if (!is_one || of.values[0] * rise % span != 0) return std::nullopt;
  const Length multiple = of.length * rise / span + (values[0] - of.values[0] * rise / span);
  return Has(multiple, values) ? std::optional(multiple) : std::nullopt;
}

std::optional<Length> LengthFit::Quotient(const Known& of, const Values& values) {
  const auto [low, high] = std::ranges::minmax_element(of.values);
  const int64_t rise = values[high - of.values.begin()] - values[low - of.values.begin()];
  if (rise <= 0) return std::nullopt;
  std::optional<Length> found;
  const int64_t span = *high - *low;  // d * (rise - 1) < span < d * (rise + 1)
  const int64_t last = rise > 1 ? span / (rise - 1) : kMaxDivisor;
  for (int64_t d = std::max<int64_t>(span / (rise + 1), 2); d <= std::min(last, kMaxDivisor); ++d) {
    for (int64_t b = 0; b < d; ++b) {
      const Length quotient =
          Length::Floor(of.length + b, d) + (values[0] - (of.values[0] + b) / d);
      if (!Has(quotient, values)) continue;
      if (!found) {
        found = quotient;
      } else if (const auto point = Difference(*found, quotient)) {
        undecided_.push_back(*point);
      }
    }
  }
  return found;
}

std::optional<SymbolValues> LengthFit::Difference(const Length& a, const Length& b) const {
  for (size_t s = 0; s < symbols_.size(); ++s) {
    SymbolValues point = points_[0];
    for (; point[s] >= symbols_[s].smallest; point[s] -= symbols_[s].step) {
      if (a.Evaluate(point) != b.Evaluate(point)) return point;
    }
  }
  return std::nullopt;
}

std::optional<Length> LengthFit::Combination(const Values& values) const {
  for (const Known& a : known_) {
    if (const auto rest = Shifted(Sum(values, a.values, -1))) return *rest + a.length;
    if (const auto whole = Shifted(Sum(values, a.values, 1))) return *whole - a.length;
  }
  for (size_t a = 0; a < known_.size(); ++a) {
    for (size_t b = 0; b <= a; ++b) {
      const Values rest = Sum(Sum(values, known_[a].values, -1), known_[b].values, -1);
      if (const auto third = Shifted(rest)) return *third + known_[a].length + known_[b].length;
      const int64_t product = known_[a].values[0] * known_[b].values[0];
      if (product == 0 || values[0] % product != 0) continue;
      const Length multiple = known_[a].length * known_[b].length * (values[0] / product);
      if (Has(multiple, values)) return multiple;
    }
  }
  return Extreme(values);
}

std::optional<Length> LengthFit::Extreme(const Values& values) const {
  const auto is_extreme = [&](const Known& a, const Known& b, const auto& choose) {
    for (size_t p = 0; p < values.size(); ++p) {
      if (values[p] != choose(a.values[p], b.values[p])) return false;
    }
    return true;
  };
  for (size_t a = 0; a < known_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const Length& first = known_[a].length;
      const Length& second = known_[b].length;
      // max(a, b) is a and as much of b - a as there is, min(a, b) is a without that of a - b.
      if (is_extreme(known_[a], known_[b], [](int64_t x, int64_t y) { return std::max(x, y); })) {
        const Length rest = second - first;
        return first + Length::Part(rest, rest.Range(symbols_).largest);
      }
      if (is_extreme(known_[a], known_[b], [](int64_t x, int64_t y) { return std::min(x, y); })) {
        const Length rest = first - second;
        return first - Length::Part(rest, rest.Range(symbols_).largest);
      }
    }
  }
  return std::nullopt;
}

}  // namespace bayloom::graph
