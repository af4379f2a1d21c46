// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "examples/models/graph_builder.h"

namespace bayloom::graph {

/// An ONNX file that lives as long as the object.
class SmallModel {
 public:
  SmallModel(const std::string& name, models::GraphBuilder builder);
  SmallModel(SmallModel&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ~SmallModel();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Small networks that hold what large ones hold: padded, strided, grouped, depthwise and
/// pointwise convolutions with batch normalization and residual connections, concatenations,
/// pools, a classifier on flattened features.
SmallModel SmallConvolutionalNetwork(int batch = 1);
/// Layers that read the results of all layers before them, normalized again each time, and a
/// transition (DenseNet).
SmallModel SmallDenseNetwork(int batch = 1);
/// Branches of several depths side by side, rows and columns convolved one after the other, pools
/// beside strided convolutions (Inception).
SmallModel SmallInceptionNetwork(int batch = 1);
/// An embedding, attention with two heads, layer normalization written in primitives, GELU.
SmallModel SmallTransformer(int batch = 1);

}  // namespace bayloom::graph
