// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace bayloom::tuning {

/// Whether `a` is at most `b` in every cost and less in one.
inline bool Dominates(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, std::ranges::less_equal()) && !std::ranges::equal(a, b);
}

/// The positions of those that no other dominates; costs are minimized and as many of each.
inline std::vector<int> ParetoFront(std::span<const std::vector<double>> costs) {
  std::vector<int> front;
  for (int i = 0; i < std::ssize(costs); ++i) {
    const auto beats = [&](const std::vector<double>& other) { return Dominates(other, costs[i]); };
    if (std::ranges::none_of(costs, beats)) front.push_back(i);
  }
  return front;
}

}  // namespace bayloom::tuning
