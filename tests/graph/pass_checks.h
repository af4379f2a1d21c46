#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/graph.h"
#include "bayloom/tensor/interpreter.h"

namespace bayloom {

/// What the tests of single passes share.

HostTensor RandomTensor(std::vector<int64_t> shape, uint64_t seed);
/// One tensor per input of the graph: normal floats, integers below 50.
std::vector<HostTensor> RandomInputs(const Graph& graph);

/// Runs the pass on a copy, checks that all outputs stay what they were, and gives the result.
Graph CheckedPass(const std::function<void(Graph&)>& pass, const Graph& graph);

/// The nodes' operators in order: "conv, relu".
std::string OpsOf(const Graph& graph);

/// x [n, h, w, ci] convolved with w [kh, kw, ci, co], without padding, stride 1.
Tensor Convolve(GraphBuilder& b, const Tensor& x, const Tensor& w);
/// The same over x [n, ci, h, w] with w [co, ci, kh, kw], as models have it.
Tensor ConvolveChannelsFirst(GraphBuilder& b, const Tensor& x, const Tensor& w);
/// a [m, k] times w [k, n].
Tensor Multiply(GraphBuilder& b, const Tensor& a, const Tensor& w);
Tensor Relu(GraphBuilder& b, const Tensor& x);

}  // namespace bayloom
