// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/sample_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/base/random.h"

namespace bayloom::graph {
namespace {

constexpr int kDegree = 2;
/// Symbols that are sampled, found ones among them.
constexpr size_t kMaxSampled = 6;

/// Steps from the largest lengths, by symbol.
using Steps = std::vector<int>;

std::vector<Steps> SampledSteps(std::span<const Symbol> symbols) {
  std::vector<Steps> all = {Steps(symbols.size(), 0)};
  for (size_t s = 0; s < SampledCount(symbols); ++s) {
    const size_t known = all.size();
    for (size_t i = 0; i < known; ++i) {
      const int taken = std::accumulate(all[i].begin(), all[i].end(), 0);
      for (int steps = 1; steps <= kDegree - taken; ++steps) {
        all.push_back(all[i]);
        all.back()[s] = steps;
      }
    }
  }
  return all;
}

/// What a step adds to a length. The smallest length is no sample, nor are 0 and 1: an extent of 1
/// is written in another way. Where there are too few others, samples are above the largest.
int64_t StepOf(const Symbol& symbol) {
  const int64_t last = symbol.largest - kDegree * symbol.step;
  return last > symbol.smallest && last > 1 ? -symbol.step : symbol.step;
}

SymbolValues PointAt(std::span<const Symbol> symbols, const Steps& steps) {
  SymbolValues point;
  for (size_t s = 0; s < symbols.size(); ++s) {
    point.push_back(symbols[s].largest + steps[s] * StepOf(symbols[s]));
  }
  return point;
}

/// A length of a symbol that is not sampled: any, or a small one. 0 and 1 are none; where there are
/// too few others, it may be above the largest.
int64_t RandomLength(const Symbol& symbol, bool is_small, base::RandomStream& random) {
  constexpr int64_t kFewest = 8, kSmallest = 2;
  if (symbol.largest < kFewest)
    return std::max(symbol.largest, kSmallest) + random.UniformInt(kFewest);
  if (!is_small) return kSmallest + random.UniformInt(symbol.largest - kSmallest + 1);
  const double ratio = static_cast<double>(symbol.largest) / kSmallest;
  return std::llround(kSmallest * std::pow(ratio, random.Uniform()));
}

/// Gives those that are not sampled random lengths.
void DrawOthers(std::span<const Symbol> symbols, bool are_small, base::RandomStream& random,
                SymbolValues& point) {
  for (size_t s = SampledCount(symbols); s < symbols.size(); ++s) {
    point[s] = RandomLength(symbols[s], are_small, random);
  }
}

/// n over k
Length Binomial(const Length& n, int k) {
  if (k == 0) return 1;
  return k == 1 ? n : n * (n - 1) / 2;
}

}  // namespace

size_t SampledCount(std::span<const Symbol> symbols) {
  const size_t given = std::ranges::count(symbols, false, &Symbol::is_found);
  return std::min(std::max(given, kMaxSampled), symbols.size());
}

std::vector<SymbolValues> SamplePoints(std::span<const Symbol> symbols) {
  std::vector<SymbolValues> points;
  for (const Steps& steps : SampledSteps(symbols)) points.push_back(PointAt(symbols, steps));
  return points;
}

Length FitLength(std::span<const Symbol> symbols, std::span<const int64_t> values) {
  // Newton's form: differences of the samples times binomials of the steps.
  const std::vector<Steps> all = SampledSteps(symbols);
  std::vector<Length> differences;
  Length sum;
  for (size_t i = 0; i < all.size(); ++i) {
    Length basis = 1, difference = values[i];
    for (size_t s = 0; s < symbols.size(); ++s) {
      const Symbol& symbol = symbols[s];
      const Length steps =
          (Length::Of(static_cast<int>(s)) - Length(symbol.largest)) / StepOf(symbol);
      basis = basis * Binomial(steps, all[i][s]);
    }
    for (size_t j = 0; j < i; ++j) {
      int64_t ways = 1;
      for (size_t s = 0; s < symbols.size(); ++s) {
        ways *= Binomial(all[i][s], all[j][s]).Evaluate({});
      }
      difference = difference - differences[j] * ways;
    }
    differences.push_back(difference);
    sum = sum + difference * basis;
  }
  return sum;
}

std::vector<SymbolValues> PointsBetween(std::span<const Symbol> symbols) {
  constexpr int kSuccessive = 24, kRandom = 16;
  base::RandomStream random(2);
  std::vector<SymbolValues> points;
  for (int i = 0; i < kSuccessive + kRandom; ++i) {
    SymbolValues& point = points.emplace_back();
    for (const Symbol& symbol : symbols) {
      const int64_t half = (symbol.ValueCount() + 1) / 2;
      const int64_t steps = i < kSuccessive ? i % half : random.UniformInt(half);
      point.push_back(symbol.largest - steps * symbol.step);
    }
    DrawOthers(symbols, /*are_small=*/false, random, point);
  }
  return points;
}

std::vector<SymbolValues> PointsOfFewFound(std::span<const Symbol> symbols) {
  const SymbolValues largest = PointAt(symbols, Steps(symbols.size(), 0));
  std::vector<SymbolValues> points;
  const size_t sampled = SampledCount(symbols);
  for (size_t s = 0; s < sampled; ++s) {
    if (!symbols[s].is_found) continue;
    for (int64_t length = symbols[s].largest / 2;
         length > std::max<int64_t>(symbols[s].smallest, 1); length /= 2) {
      points.push_back(largest);
      points.back()[s] = length;
    }
  }
  constexpr int kAtOnce = 16;
  base::RandomStream random(3);
  for (int i = 0; i < kAtOnce && sampled < symbols.size(); ++i) {
    points.push_back(largest);
    DrawOthers(symbols, /*are_small=*/true, random, points.back());
  }
  return points;
}

namespace {

/// Behind a length that is found to be 0, others that are found may be those of what it bounds.
void FindNothingInNothing(std::span<const Symbol> symbols, SymbolValues& point) {
  bool is_nothing = false;
  for (size_t s = 0; s < symbols.size(); ++s) {
    if (is_nothing && symbols[s].is_found) point[s] = symbols[s].smallest;
    is_nothing |= symbols[s].is_found && point[s] == 0;
  }
}

}  // namespace

std::vector<SymbolValues> PointsToConfirm(std::span<const Symbol> symbols, int random_points) {
  const SymbolValues largest = PointAt(symbols, Steps(symbols.size(), 0));
  SymbolValues smallest, next;
  std::vector<SymbolValues> points(2);
  for (size_t s = 0; s < symbols.size(); ++s) {
    const Symbol& symbol = symbols[s];
    smallest.push_back(symbol.smallest);
    next.push_back(symbol.smallest + symbol.step);
    if (symbol.ValueCount() <= kDegree + 1 || s >= SampledCount(symbols)) continue;
    points.push_back(largest);
    points.back()[s] -= (kDegree + 1) * symbol.step;
  }
  points[0] = std::move(smallest);
  points[1] = std::move(next);
  base::RandomStream random(1);
  for (int i = 0; i < random_points; ++i) {
    SymbolValues& point = points.emplace_back();
    for (const Symbol& symbol : symbols) {
      point.push_back(symbol.smallest + random.UniformInt(symbol.ValueCount()) * symbol.step);
    }
  }
  for (SymbolValues& point : points) FindNothingInNothing(symbols, point);
  return points;
}

std::vector<SymbolValues> CornersOf(std::span<const Symbol> symbols) {
  constexpr size_t kMaxCombined = 6;
  constexpr int kRandom = 16;
  const SymbolValues largest = PointAt(symbols, Steps(symbols.size(), 0));
  const size_t given = std::ranges::count(symbols, false, &Symbol::is_found);
  const size_t combined = std::min(given, kMaxCombined);
  std::vector<SymbolValues> points;
  for (size_t corner = 0; corner < size_t{1} << combined; ++corner) {
    points.push_back(largest);
    for (size_t s = 0; s < combined; ++s) {
      if (corner >> s & 1) points.back()[s] = symbols[s].smallest;
    }
  }
  base::RandomStream random(4);
  for (int i = 0; i < kRandom; ++i) {
    points.push_back(largest);
    for (size_t s = 0; s < given; ++s) {
      const int64_t steps = random.UniformInt(symbols[s].ValueCount());
      points.back()[s] = symbols[s].smallest + steps * symbols[s].step;
    }
  }
  return points;
}

std::vector<Symbol> WithMultiples(std::span<const Symbol> symbols, int64_t step) {
  std::vector<Symbol> all;
  for (const Symbol& s : symbols) {
    const Symbol stepped = {s.name, (s.smallest + step - 1) / step * step, s.largest / step * step,
                            step};
    const bool is_enough = !s.is_found && s.step == 1 && stepped.ValueCount() > kDegree + 1;
    all.push_back(is_enough ? stepped : s);
  }
  return all;
}

}  // namespace bayloom::graph
