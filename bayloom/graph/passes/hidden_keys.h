// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bayloom/graph/passes/attention_pattern.h"

namespace bayloom::graph {

/// The keys that a query may see: [first, last), empty if first >= last.
struct KeyRange {
  int64_t first = 0, last = 0;
};

/// Of an attention whose mask depends on positions and constants: per query, from the first to the
/// last key that the mask does not hide with any inputs. Hidden keys have a weight of
/// exactly 0: their scores are minus infinity, or below -1e30 where no other mask takes part and
/// every query sees a key. (Scores of that size, and infinite or undefined values at hidden keys,
/// aside.) nullopt if there is no such mask.
std::optional<std::vector<KeyRange>> FindVisibleKeys(const Graph& graph,
                                                     const AttentionPattern& pattern);

}  // namespace bayloom::graph
