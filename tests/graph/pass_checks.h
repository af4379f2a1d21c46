// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/graph.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {

/// What the tests of single passes share.

tensor::HostTensor RandomTensor(std::vector<int64_t> shape, uint64_t seed);
/// One tensor per input of the graph: normal floats, integers below 50.
std::vector<tensor::HostTensor> RandomInputs(const Graph& graph);

/// Runs the pass on a copy, checks that all outputs stay what they were, and gives the result.
Graph CheckedPass(const std::function<void(Graph&)>& pass, const Graph& graph);

/// The outputs of the network, compiled without tuning.
std::vector<tensor::HostTensor> RunCompiled(const TaskGraph& tasks,
                                            const std::vector<tensor::HostTensor>& inputs);

/// The nodes' operators in order: "conv, relu".
std::string OpsOf(const Graph& graph);

/// x [n, h, w, ci] convolved with w [kh, kw, ci, co], without padding, stride 1.
tensor::Tensor Convolve(GraphBuilder& b, const tensor::Tensor& x, const tensor::Tensor& w);
/// The same over x [n, ci, h, w] with w [co, ci, kh, kw], as models have it.
tensor::Tensor ConvolveChannelsFirst(GraphBuilder& b, const tensor::Tensor& x,
                                     const tensor::Tensor& w);
/// a [m, k] times w [k, n].
tensor::Tensor Multiply(GraphBuilder& b, const tensor::Tensor& a, const tensor::Tensor& w);
tensor::Tensor Relu(GraphBuilder& b, const tensor::Tensor& x);

}  // namespace bayloom::graph
