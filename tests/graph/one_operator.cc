// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/one_operator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "bayloom/base/random.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/internal/evaluate.h"
#include "bayloom/graph/internal/onnx_tensor.h"
#include "bayloom/graph/passes/passes.h"
#include "tests/graph/pass_checks.h"

namespace bayloom::graph {
namespace {

void SetAttribute(onnx::AttributeProto& proto, const std::string& name,
                  const OneOperator::Value& value) {
  using onnx::AttributeProto;
  proto.set_name(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    proto.set_type(AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(*text);
  } else {
    const auto& integers = std::get<std::vector<int64_t>>(value);
    proto.set_type(AttributeProto::INTS);
    proto.mutable_ints()->Add(integers.begin(), integers.end());
  }
}

void AddInput(onnx::GraphProto& graph, const std::string& name, const tensor::HostTensor& data,
              bool constant) {
  if (constant) {
    onnx::TensorProto& initializer = *graph.add_initializer();
    initializer.set_name(name);
    initializer.set_data_type(DTypeToOnnx(data.dtype));
    initializer.mutable_dims()->Add(data.shape.begin(), data.shape.end());
    initializer.set_raw_data(data.data.data(), data.data.size());
    return;
  }
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(name);
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(DTypeToOnnx(data.dtype));
  auto& shape = *type.mutable_shape();
  for (int64_t extent : data.shape) shape.add_dim()->set_dim_value(extent);
}

onnx::ModelProto ToOnnx(const OneOperator& model) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  onnx::OperatorSetIdProto& own = *proto.add_opset_import();
  own.set_version(model.opset);
  if (!model.domain.empty()) {
    onnx::OperatorSetIdProto& other = *proto.add_opset_import();
    other.set_domain(model.domain);
    other.set_version(1);
  }
  onnx::GraphProto& graph = *proto.mutable_graph();
  graph.set_name("one_operator");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(model.op);
  node.set_domain(model.domain);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    node.add_input(model.inputs[i] ? fmt::format("x{}", i) : "");
    if (!model.inputs[i]) continue;
    AddInput(graph, node.input(static_cast<int>(i)), *model.inputs[i],
             model.constants.contains(static_cast<int>(i)));
  }
  for (const auto& [name, value] : model.attributes) {
    SetAttribute(*node.add_attribute(), name, value);
  }
  for (int i = 0; i < model.outputs; ++i) {
    node.add_output(fmt::format("y{}", i));
    graph.add_output()->set_name(node.output(i));
  }
  return proto;
}

Graph Import(const OneOperator& model) {
  const std::string path =
      fmt::format("{}/one_operator_{}_{}.onnx", testing::TempDir(), model.op, getpid());
  std::ofstream(path, std::ios::binary) << ToOnnx(model).SerializeAsString();
  struct Removed {
    const std::string& path;
    ~Removed() { unlink(path.c_str()); }
  } const removed{path};
  return ImportOnnx(path);
}

}  // namespace

std::vector<tensor::HostTensor> RunOperator(const OneOperator& model) {
  Graph graph = Import(model);
  std::vector<tensor::HostTensor> inputs;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const bool constant = model.constants.contains(static_cast<int>(i));
    if (model.inputs[i] && !constant) inputs.push_back(*model.inputs[i]);
  }
  const std::vector<tensor::HostTensor> outputs = EvaluateGraph(graph, inputs);
  Optimize(graph);
  const auto compiled = RunCompiled(ExtractTasks(std::move(graph)), inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<double> expected;
    for (int64_t e = 0; e < outputs[i].ElementCount(); ++e) expected.push_back(outputs[i].Get(e));
    EXPECT_EQ(compiled[i].shape, outputs[i].shape);
    ExpectClose(compiled[i], expected, 1e-4);
  }
  return outputs;
}

tensor::HostTensor Floats(std::vector<int64_t> shape, const std::vector<double>& values) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(tensor::DType::kFloat32, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<int64_t>(i), values[i]);
  return tensor;
}

tensor::HostTensor Integers(tensor::DType dtype, std::vector<int64_t> shape,
                            const std::vector<int64_t>& values) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.SetInt(static_cast<int64_t>(i), values[i]);
  return tensor;
}

tensor::HostTensor RandomIntegers(tensor::DType dtype, std::vector<int64_t> shape, int64_t low,
                                  int64_t high, uint64_t seed) {
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(dtype, std::move(shape));
  base::RandomStream random(seed);
  for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
    tensor.SetInt(i, low + random.UniformInt(high - low));
  }
  return tensor;
}

void ExpectClose(const tensor::HostTensor& actual, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(actual.ElementCount(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double a = actual.Get(static_cast<int64_t>(i));
    if (std::isnan(expected[i]) && std::isnan(a)) continue;
    if (a == expected[i]) continue;
    ASSERT_NEAR(a, expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

}  // namespace bayloom::graph
