// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/density.h"

#include <fmt/format.h>
#include <math.h>  // lgamma_r, which unlike std::lgamma writes no global variable

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/sparse/internal/whole_count.h"
#include "bayloom/mapspace/sparse/optimization.h"

namespace bayloom::mapspace {
namespace {

/// More occupancies than these are represented by every so many of them.
constexpr int64_t kMaxPoints = 48;
/// Standard deviations around the mean beyond which occupancies do not count.
constexpr double kReach = 7;

double LogFactorial(int64_t n) {
  int sign = 0;
  return lgamma_r(static_cast<double>(n) + 1, &sign);
}

double LogChoose(int64_t n, int64_t k) {
  return LogFactorial(n) - LogFactorial(k) - LogFactorial(n - k);
}

/// That `n` words drawn of `words`, `nonzeros` of which are not 0, hold `k` of these.
double Hypergeometric(int64_t words, int64_t nonzeros, int64_t n, int64_t k) {
  if (k < 0 || k > n || k > nonzeros || n - k > words - nonzeros) return 0;
  if (k == 0 && std::min(n, nonzeros) <= 16) {
    // A short product, exact to rounding: the most frequent question.
    const int64_t few = std::min(n, nonzeros), many = std::max(n, nonzeros);
    double empty = 1;
    for (int64_t i = 0; i < few; ++i) {
      empty *= static_cast<double>(words - many - i) / static_cast<double>(words - i);
    }
    return empty;
  }
  return std::exp(LogChoose(nonzeros, k) + LogChoose(words - nonzeros, n - k) -
                  LogChoose(words, n));
}

/// A number of words that should be whole but for rounding.
double Snap(double value) {
  const double whole = std::round(value);
  return std::abs(value - whole) < 1e-9 * std::max(1.0, whole) ? whole : value;
}

std::optional<double> ParseReal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

Density Checked(Density density) {
  if (!(density.fraction > 0 && density.fraction <= 1)) {
    throw InputError(
        fmt::format("a density of {}; it must be above 0 and at most 1", density.fraction));
  }
  return density.fraction == 1 ? Density{} : density;
}

}  // namespace

std::string Density::Describe() const {
  switch (kind) {
    case Kind::kDense:
      return "dense";
    case Kind::kFixedStructured:
      return fmt::format("{} fixed-structured", fraction);
    case Kind::kBlocked:
      return fmt::format("{}:{}", block_nonzeros, block_words);
    case Kind::kHypergeometric:
      return whole_words == 0 ? fmt::format("{} hypergeometric", fraction)
                              : fmt::format("{} hypergeometric of {} words", fraction, whole_words);
  }
  return "";
}

Density ParseDensity(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto fraction = ParseReal(text);
    if (!fraction) {
      throw InputError(fmt::format("'{}' is no density such as 0.3 or 2:4", text));
    }
    return Checked({.kind = Density::Kind::kHypergeometric, .fraction = *fraction});
  }
  const auto n = ParseReal(text.substr(0, colon)), m = ParseReal(text.substr(colon + 1));
  if (!n || !m || *n != std::floor(*n) || *m != std::floor(*m) || *n < 1 || *m < *n || *m > 4096) {
    throw InputError(fmt::format("'{}' is no density such as 2:4, two words of every four", text));
  }
  return Checked({.kind = Density::Kind::kBlocked,
                  .fraction = *n / *m,
                  .block_nonzeros = static_cast<int64_t>(*n),
                  .block_words = static_cast<int64_t>(*m)});
}

Density MakeDensity(std::string_view distribution, double fraction) {
  std::string name(distribution);
  std::ranges::replace(name, '_', '-');
  if (name == "fixed" || name == "fixed-structured") {
    return Checked({.kind = Density::Kind::kFixedStructured, .fraction = fraction});
  }
  if (name == "hypergeometric" || name == "uniform") {
    return Checked({.kind = Density::Kind::kHypergeometric, .fraction = fraction});
  }
  throw InputError(fmt::format(
      "there is no distribution '{}'; there are fixed-structured, hypergeometric and n:m", name));
}

DensityModel::DensityModel(const Density& density, int64_t tensor_words)
    : density_(density),
      words_(std::max(density.whole_words, tensor_words)),
      nonzeros_(
          static_cast<int64_t>(std::ceil(Snap(density.fraction * static_cast<double>(words_))))) {}

DensityModel DensityModel::Given(int64_t box_words, int64_t nonzeros) const {
  Density density = density_;
  // Inside of a box smaller than a block nothing is known of where the nonzeros are.
  if (density.kind == Density::Kind::kBlocked && box_words < density.block_words) {
    density.kind = Density::Kind::kHypergeometric;
  }
  density.fraction = static_cast<double>(nonzeros) / static_cast<double>(box_words);
  return {density, box_words, nonzeros};
}

double DensityModel::Probability(int64_t tile_words, int64_t nonzeros) const {
  const int64_t n = Clamp(tile_words);
  switch (density_.kind) {
    case Density::Kind::kDense:
      return nonzeros == (nonzeros_ == 0 ? 0 : n) ? 1 : 0;
    case Density::Kind::kFixedStructured: {
      const double exact = Snap(density_.fraction * static_cast<double>(n));
      const double above = exact - std::floor(exact);
      if (static_cast<double>(nonzeros) == std::floor(exact)) return 1 - above;
      return static_cast<double>(nonzeros) == std::ceil(exact) ? above : 0;
    }
    case Density::Kind::kBlocked: {
      const int64_t whole = n / density_.block_words * density_.block_nonzeros;
      return Hypergeometric(density_.block_words, density_.block_nonzeros, n % density_.block_words,
                            nonzeros - whole);
    }
    case Density::Kind::kHypergeometric:
      return Hypergeometric(words_, nonzeros_, n, nonzeros);
  }
  return 0;
}

double DensityModel::ExpectedOccupancy(int64_t tile_words) const {
  const auto n = static_cast<double>(Clamp(tile_words));
  if (density_.kind == Density::Kind::kHypergeometric) {
    return n * static_cast<double>(nonzeros_) / static_cast<double>(words_);
  }
  return n * density_.fraction;
}

int64_t DensityModel::MinOccupancy(int64_t tile_words) const {
  const int64_t n = Clamp(tile_words);
  switch (density_.kind) {
    case Density::Kind::kDense:
      return nonzeros_ == 0 ? 0 : n;
    case Density::Kind::kFixedStructured:
      return static_cast<int64_t>(std::floor(Snap(density_.fraction * static_cast<double>(n))));
    case Density::Kind::kBlocked: {
      const int64_t rest = n % density_.block_words;
      const int64_t zeros = density_.block_words - density_.block_nonzeros;
      return n / density_.block_words * density_.block_nonzeros +
             std::max<int64_t>(0, rest - zeros);
    }
    case Density::Kind::kHypergeometric:
      return std::max<int64_t>(0, n - (words_ - nonzeros_));
  }
  return 0;
}

int64_t DensityModel::MaxOccupancy(int64_t tile_words) const {
  const int64_t n = Clamp(tile_words);
  switch (density_.kind) {
    case Density::Kind::kDense:
      return nonzeros_ == 0 ? 0 : n;
    case Density::Kind::kFixedStructured:
      return static_cast<int64_t>(std::ceil(Snap(density_.fraction * static_cast<double>(n))));
    case Density::Kind::kBlocked:
      return n / density_.block_words * density_.block_nonzeros +
             std::min(density_.block_nonzeros, n % density_.block_words);
    case Density::Kind::kHypergeometric:
      return std::min(n, nonzeros_);
  }
  return 0;
}

std::vector<OccupancyPoint> DensityModel::Occupancies(int64_t tile_words) const {
  const int64_t n = Clamp(tile_words);
  int64_t low = MinOccupancy(n), high = MaxOccupancy(n);
  if (density_.kind == Density::Kind::kHypergeometric && high - low >= kMaxPoints) {
    const double mean = ExpectedOccupancy(n), p = mean / static_cast<double>(n);
    const double left = static_cast<double>(words_ - n) / static_cast<double>(words_ - 1);
    const double reach = kReach * std::sqrt(static_cast<double>(n) * p * (1 - p) * left);
    low = std::max(low, static_cast<int64_t>(mean - reach) - 1);
    high = std::min(high, static_cast<int64_t>(mean + reach) + 1);
  }
  const int64_t step = (high - low) / kMaxPoints + 1;
  std::vector<OccupancyPoint> points;
  double total = 0;
  for (int64_t k = low; k <= high; k += step) {
    // The middle of a stride stands for it; tiles without nonzeros stand for themselves.
    const int64_t middle = k == 0 ? 0 : std::min(high, k + (step - 1) / 2);
    points.push_back({middle, Probability(n, middle)});
    total += points.back().probability;
  }
  std::erase_if(points, [](const OccupancyPoint& point) { return point.probability == 0; });
  for (OccupancyPoint& point : points) point.probability /= total;
  return points;
}

int64_t DensityModel::Quantile(int64_t tile_words, double probability) const {
  if (probability >= 1) return MaxOccupancy(tile_words);
  double total = 0;
  for (const OccupancyPoint& point : Occupancies(tile_words)) {
    total += point.probability;
    if (total >= probability) return point.occupancy;
  }
  return MaxOccupancy(tile_words);
}

int64_t DensityModel::OccupancyFor(int64_t tile_words, double fit_probability) const {
  if (fit_probability == kFitsExpected) return RoundedUp(ExpectedOccupancy(tile_words));
  return Quantile(tile_words, fit_probability);
}

}  // namespace bayloom::mapspace
