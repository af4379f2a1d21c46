// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/base/result.h"
#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// An imported decoder whose caches have a fixed size as one whose caches grow (JoinStates).
///
/// Such a cache is an input [.., capacity, ..] and an output of the same shape, which is the input
/// with the new tokens' rows written where the tokens are: by ScatterND, ScatterElements,
/// TensorScatter, GroupQueryAttention or others. It becomes an input with the rows before the step
/// and an output with those behind it, too; the length of the past is an open dimension, `past`,
/// and what runs over all rows runs over those that there are. That gives the same where all
/// readers of a cache hide the rows behind the last token: found out by following masks at sample
/// places of sample steps.
///
/// The error says why such caches cannot grow; it is empty where the graph has none.
Result<Graph> GrowCaches(const Graph& graph);

}  // namespace bayloom::graph
