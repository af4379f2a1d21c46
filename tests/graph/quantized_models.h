// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/tensor/interpreter.h"
#include "tests/graph/model_writer.h"

namespace bayloom::graph {

/// Scales and zero points of a tensor: one of each, or one for each slice of an axis.
struct QuantizationParameters {
  tensor::DType dtype = tensor::DType::kUInt8;
  std::vector<double> scales = {1};
  std::vector<int64_t> zeros = {0};
  int axis = 0;

  double Scale(int64_t slice) const { return scales[scales.size() == 1 ? 0 : slice]; }
  int64_t Zero(int64_t slice) const { return zeros[zeros.size() == 1 ? 0 : slice]; }
  /// The level of a real number, by one scale.
  int64_t Level(double x) const;
  int64_t Lowest() const { return dtype == tensor::DType::kInt8 ? -128 : 0; }
  int64_t Highest() const { return dtype == tensor::DType::kInt8 ? 127 : 255; }
};

/// Nodes of QDQ models.
std::string QuantizeNode(ModelWriter& writer, const std::string& x,
                         const QuantizationParameters& q);
std::string DequantizeNode(ModelWriter& writer, const std::string& x,
                           const QuantizationParameters& q);
/// The names of scale and zero point as constants.
std::vector<std::string> ParameterNames(ModelWriter& writer, const QuantizationParameters& q);

/// All levels of the type, at random.
tensor::HostTensor RandomLevels(const QuantizationParameters& q, std::vector<int64_t> shape,
                                uint64_t seed);

/// Real numbers of a tensor in row-major order.
using Reals = std::vector<double>;

/// The levels of the real numbers, which the quantized outputs may miss by one quantum, and rarely
/// do. Evaluates the graph as it is imported, and compiled; both have to agree with the levels.
/// Returns the optimized graph.
Graph ExpectLevels(const ModelWriter& writer, const std::vector<tensor::HostTensor>& inputs,
                   const Reals& expected, const QuantizationParameters& q);

/// Tensors of more than `elements` floats that some node of the graph computes.
std::vector<std::string> ComputedFloats(const Graph& graph, int64_t elements = 1);
/// How many nodes sum up products of bytes in 32 bits.
int ByteProducts(const Graph& graph);

}  // namespace bayloom::graph
