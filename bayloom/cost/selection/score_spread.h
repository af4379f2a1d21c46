// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bayloom::cost {

/// How far an item of score f is from an anchor of score a.
enum class ScoreDistance : uint8_t {
  kPlain,     ///< |f - a|
  kWeighted,  ///< f |f - a|; scores below 0 count as 0
};

/// Farthest-first traversal where items and anchors are numbers: again and again the item whose
/// distance to its nearest anchor is largest is chosen and becomes an anchor. Among equals the
/// higher score comes first, then the smaller index; without anchors the highest score begins.
///
/// The same choices as by computing all distances (Bi et al. 2023, algorithms 1 and 2, in
/// O(count (M + A)^2)), in O((M + A) log (M + A) + count log (M + A)) for M items and A anchors:
/// anchors cut the sorted items into gaps, in each of which the farthest item is found by binary
/// search and kept in a heap, and a choice replaces one gap by two.
std::vector<int> SpreadScores(std::span<const double> items, std::span<const double> anchors,
                              int count, ScoreDistance distance);

}  // namespace bayloom::cost
