// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <unordered_map>
#include <utility>

#include "bayloom/graph/import/node_order.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::graph {

/// What is made of parts of a model once for all iterations of an unrolled loop.
struct MadeOnce {
  std::unordered_map<const onnx::TensorProto*, tensor::Tensor> initializers;
  std::unordered_map<const onnx::GraphProto*, NodeList> nodes;
};

/// While it lives, what is made is that of a function's body, which is a copy of its own.
class ForOneBody {
 public:
  explicit ForOneBody(MadeOnce& made) : made_(made) { std::swap(made_, outer_); }
  ~ForOneBody() { std::swap(made_, outer_); }
  ForOneBody(const ForOneBody&) = delete;
  ForOneBody& operator=(const ForOneBody&) = delete;

 private:
  MadeOnce& made_;
  MadeOnce outer_;
};

}  // namespace bayloom::graph
