// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/strategy/scored_candidate.h"

namespace bayloom::strategy {

/// How far what was expected of programs holds in each design space of a task: the largest share of
/// the best throughput that a program of it had, over the largest that was expected of one that was
/// tried. 1 for a space of which none was tried, and drawn to 1 while few were.
///
/// Estimates err by space more than within one: spaces of different algorithms have programs of
/// different kinds, and where an algorithm does not pass, all of them fail.
class SpaceFactors {
 public:
  /// All 1.
  explicit SpaceFactors(size_t spaces) : factors_(spaces, 1.0) {}
  /// `tried` are rated by runs per second, the fastest first, 0 if they have no time; of each,
  /// `expected` has the share that was expected.
  SpaceFactors(size_t spaces, std::span<const ScoredCandidate> tried,
               std::span<const double> expected);

  double Of(int space) const { return factors_[static_cast<size_t>(space)]; }

 private:
  std::vector<double> factors_;
};

}  // namespace bayloom::strategy
