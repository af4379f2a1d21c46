// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/domain.h"

#include <algorithm>

namespace bayloom::space {

int64_t Domain::PositionOf(double rank) const {
  const auto count = static_cast<double>(ranks.size());
  if (rank >= 0 && rank < count && ranks[static_cast<size_t>(rank)] == rank) {
    return static_cast<int64_t>(rank);  // nothing before it is missing
  }
  const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank);
  return found != ranks.end() && *found == rank ? found - ranks.begin() : -1;
}

TermHulls::TermHulls(std::span<const double> values) : hulls_(2 * values.size() - 1) {
  Fill(values, {0, static_cast<uint32_t>(values.size()), 0});
}

Interval TermHulls::Fill(std::span<const double> values, const RankBlock& block) {
  Interval hull = Interval::Point(values[block.first]);
  if (!block.IsSingle()) {
    const Interval left = Fill(values, block.Left());
    const Interval right = Fill(values, block.Right());
    hull = {std::min(left.low, right.low), std::max(left.high, right.high)};
  }
  return hulls_[block.node] = hull;
}

}  // namespace bayloom::space
