// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/bayes/space_factors.h"

#include <algorithm>

namespace bayloom::strategy {
namespace {

/// How many tried programs the estimate weighs.
constexpr double kPriorCount = 2;

}  // namespace

SpaceFactors::SpaceFactors(size_t spaces, std::span<const ScoredCandidate> tried,
                           std::span<const double> expected)
    : SpaceFactors(spaces) {
  const double best = tried.empty() ? 0 : tried.front().rating;
  std::vector<double> count(spaces, 0), most(spaces, 0), most_expected(spaces, 0);
  for (size_t i = 0; i < tried.size(); ++i) {
    const auto space = static_cast<size_t>(tried[i].candidate->space);
    ++count[space];
    if (best > 0) most[space] = std::max(most[space], tried[i].rating / best);
    most_expected[space] = std::max(most_expected[space], expected[i]);
  }
  for (size_t s = 0; s < spaces; ++s) {
    if (most_expected[s] <= 0) continue;
    const double held = most[s] / most_expected[s];
    factors_[s] = (kPriorCount + count[s] * held) / (kPriorCount + count[s]);
  }
}

}  // namespace bayloom::strategy
