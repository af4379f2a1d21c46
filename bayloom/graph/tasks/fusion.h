// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// Nodes that are computed together: one task. Views, joins and slices belong to no group: they
/// are other names for memory.
struct FusionGroup {
  std::vector<int> nodes;  ///< positions in Graph::nodes, ascending; the last one's value leaves
};

/// Divides a graph's nodes into groups, in an order in which they can run:
///  - what passes have put together (Node::group);
///  - a convolution, pool or matrix product with the padding or quantization before it and the
///    elementwise nodes behind it, as long as there is no other reader of what is between;
///  - reductions over the same rows with the elementwise nodes between and behind them (softmax,
///    layer normalization, the index of a maximum);
///  - chains of other nodes.
/// Every group has one result; nothing inside is visible outside.
std::vector<FusionGroup> Fuse(const Graph& graph);

}  // namespace bayloom::graph
