// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// A value at the border of a part.
struct BorderValue {
  ValueId value;
  std::string name;
  tensor::DType dtype;  ///< that the part takes or returns; other than the value's where it is cast
};

/// A part of a graph as a graph of its own.
struct GraphPart {
  Graph graph;
  std::vector<std::string> inputs;  ///< their names in full, parallel to graph.inputs
};

/// What computes `outputs` from some of `inputs`, which are not computed themselves. Its inputs are
/// those that are needed, in the order of `inputs`.
GraphPart ExtractPart(const Graph& whole, const std::string& name,
                      const std::vector<BorderValue>& inputs,
                      const std::vector<BorderValue>& outputs);

/// Points of the iteration domains of all nodes: a measure of the work.
int64_t PointsOf(const Graph& graph);

}  // namespace bayloom::graph
