// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "examples/models/graph_builder.h"

namespace bayloom::models {

// Gains that keep the mean square of activations near one (He et al. 2015).
constexpr double kAfterRelu = 1.4142135623730951;  ///< the inputs lost half of their mean square
constexpr double kAfterLinear = 1;

struct Convolution {
  int64_t in;
  int64_t out;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
};

/// Convolution without bias, batch normalization. `scale` multiplies the result: a small one
/// keeps a sum of residual branches from growing.
Value ConvBn(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
             double gain, double scale = 1);
/// Convolution without bias.
Value BareConv(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
               double gain);
/// Batch normalization, ReLU.
Value BnRelu(GraphBuilder& g, const std::string& name, const Value& x, int64_t channels);
/// A window that need not be square.
struct Window {
  int64_t rows, columns;
  int64_t stride = 1;
  int64_t row_padding = 0, column_padding = 0;
};
/// Convolution over any window without bias, batch normalization.
Value WindowConvBn(GraphBuilder& g, const std::string& name, const Value& x, int64_t in,
                   int64_t out, const Window& window, double gain);
/// Convolution with bias, ReLU.
Value ConvRelu(GraphBuilder& g, const std::string& name, const Value& x, const Convolution& shape,
               double gain);
Value MaxPool(GraphBuilder& g, const Value& x, int64_t kernel, int64_t stride, int64_t padding = 0);
/// The mean of the elements inside the image.
Value AveragePool(GraphBuilder& g, const Value& x, int64_t kernel, int64_t stride,
                  int64_t padding = 0);
/// Gemm with bias on a matrix of rows.
Value FullyConnected(GraphBuilder& g, const std::string& name, const Value& x, int64_t in,
                     int64_t out, double gain);
/// Mean over the image, then a fully connected layer to 1000 logits, the network's output.
void Classify(GraphBuilder& g, const std::string& name, const Value& x, int64_t channels);

/// MatMul with bias over the last dimension, as transformers are exported.
Value Dense(GraphBuilder& g, const std::string& name, const Value& x, int64_t in, int64_t out);
/// [1, length, heads * width] to [1, heads, length, width]. `shape` holds {1, length, heads,
/// width}.
Value SplitHeads(GraphBuilder& g, const Value& x, const Value& shape);
/// The inverse of SplitHeads. `shape` holds {1, length, heads * width}.
Value JoinHeads(GraphBuilder& g, const Value& x, const Value& shape);

}  // namespace bayloom::models
