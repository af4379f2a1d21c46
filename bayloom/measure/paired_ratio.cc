// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bayloom/base/quantile.h"

namespace bayloom::measure {
namespace {

constexpr double kTail = 0.025;
constexpr int kManyRounds = 500;

/// How many of n ratios, counted from either end, lie outside of the interval: the most for which a
/// fair coin shows so few heads in n throws with a probability of at most kTail.
int RatiosOutside(int n) {
  // Of many throws the number of heads is normal, and the powers below would be too small.
  if (n > kManyRounds) return static_cast<int>(n / 2.0 - 0.98 * std::sqrt(n));
  double probability = std::pow(0.5, n);
  double below = probability;
  int outside = 0;
  while (below <= kTail) {
    ++outside;
    probability *= static_cast<double>(n - outside + 1) / outside;
    below += probability;
  }
  return outside;
}

}  // namespace

PairedRatio RatioInTurns(std::span<const double> first, std::span<const double> second) {
  std::vector<double> ratios;
  for (size_t i = 0; i < first.size(); ++i) ratios.push_back(first[i] / second[i]);
  std::ranges::sort(ratios);
  const auto rounds = static_cast<int>(ratios.size());
  // The k-th smallest is the interval's end, where k - 1 lie outside.
  const int outside = std::max(0, RatiosOutside(rounds) - 1);
  return {.ratio = base::Median(ratios),
          .low = ratios[outside],
          .high = ratios[rounds - 1 - outside],
          .rounds = rounds};
}

}  // namespace bayloom::measure
