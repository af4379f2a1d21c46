// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// The data of a value that a stage loads.
using TensorLookup = std::function<const tensor::HostTensor&(ValueId)>;

/// Computes a stage's output from its operands: many points of the iteration domain at a time, so
/// that folding the weights of a large model takes moments. Elements are rounded to their type
/// after every operation; sums are accumulated in double or int64. An integer division by zero
/// gives zero. A load outside its tensor, not guarded by a select, throws std::domain_error.
tensor::HostTensor EvaluateStage(const tensor::Stage& stage, const TensorLookup& operands);

/// Runs a graph node by node: the reference for everything the compiler makes of it. `inputs`
/// parallel to graph.inputs, result parallel to graph.outputs.
std::vector<tensor::HostTensor> EvaluateGraph(const Graph& graph,
                                              const std::vector<tensor::HostTensor>& inputs);

}  // namespace bayloom::graph
