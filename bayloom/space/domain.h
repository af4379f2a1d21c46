// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bayloom/space/operation.h"

namespace bayloom::space {

/// Consecutive values of a parameter's domain, as a node of the binary tree that halves the domain
/// again and again. Nodes are numbered in pre-order.
struct RankBlock {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t node = 0;

  bool IsSingle() const { return count == 1; }
  RankBlock Left() const { return {first, count / 2, node + 1}; }
  RankBlock Right() const { return {first + count / 2, count - count / 2, node + 2 * (count / 2)}; }
};

/// The values of a parameter that may occur in a tree: ranks, ascending. Values are known by their
/// position in it.
struct Domain {
  int parameter = 0;
  std::vector<double> ranks;

  RankBlock All() const { return {0, static_cast<uint32_t>(ranks.size()), 0}; }
  /// -1 if the rank is not there.
  int64_t PositionOf(double rank) const;
};

/// For each block of a domain the interval around what a term reads there.
class TermHulls {
 public:
  /// `values`: what the term reads at each position.
  explicit TermHulls(std::span<const double> values);
  const Interval& operator[](const RankBlock& block) const { return hulls_[block.node]; }

 private:
  Interval Fill(std::span<const double> values, const RankBlock& block);
  std::vector<Interval> hulls_;
};

}  // namespace bayloom::space
