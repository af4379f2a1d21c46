// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "bayloom/graph/graph.h"
#include "tests/graph/host_tensors.h"

namespace bayloom::graph {

/// ONNX's numbers of element types.
inline constexpr int kFloatType = 1, kInt8Type = 3, kStringType = 8, kFloat16Type = 10,
                     kBfloat16Type = 16;

/// A model from the text form of its graph (GraphProto of protobuf's text format).
onnx::ModelProto TextModel(int opset, const std::string& graph);

/// "name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } }": an input or
/// output for the text of a graph; the type is ONNX's number.
std::string Declare(const std::string& name, int type, const std::vector<int64_t>& shape);
/// A node, named as its output.
std::string NodeText(const std::string& op, const std::vector<std::string>& inputs,
                     const std::string& output, const std::string& attributes = "");
std::string IntAttribute(const std::string& name, int64_t value);
/// A list of 64-bit integers as an initializer.
std::string Integers(const std::string& name, const std::vector<int64_t>& values);

/// The graph of the model, from a file.
Graph Import(const onnx::ModelProto& model);
/// What the model computes.
std::vector<tensor::HostTensor> Compute(const onnx::ModelProto& model,
                                        const std::vector<tensor::HostTensor>& inputs = {});
/// What its import is refused with, without the file's name; fails the test if it is accepted.
std::string RefusalOf(const onnx::ModelProto& model);

}  // namespace bayloom::graph
