// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

namespace bayloom::measure {

/// How many times as long the first of two things takes as the second, of which both were timed
/// once in each of several rounds: what a machine does meanwhile affects both alike.
struct PairedRatio {
  double ratio = 1;  ///< the median over rounds
  /// The median lies in between with a confidence of 95 % for noise of any distribution: order
  /// statistics of the rounds' ratios (the interval of the sign test). All of them below 6 rounds.
  double low = 1, high = 1;
  int rounds = 0;

  /// Whether the rounds say which is faster.
  bool IsClear() const { return rounds >= 6 && (low > 1 || high < 1); }
};

/// Of times in the order of the rounds, one or more, all positive.
PairedRatio RatioInTurns(std::span<const double> first, std::span<const double> second);

}  // namespace bayloom::measure
