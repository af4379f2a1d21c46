// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// Graph::window of an imported decoder whose states grow: how many tokens one of them sees with
/// itself where all layers hide the others, so that rows before them can be dropped. That needs
/// masks that count keys and queries from the first row that there is, not by positions that are
/// inputs; and nothing else may follow the length of the past. 0 where that is not found, at sample
/// places of sample steps.
int64_t FindWindow(const Graph& graph);

}  // namespace bayloom::graph
