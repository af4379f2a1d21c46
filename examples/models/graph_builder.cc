// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "examples/models/graph_builder.h"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <ostream>
#include <stdexcept>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"

namespace bayloom::models {
namespace {

void Declare(onnx::ValueInfoProto& info, const std::string& name, int type, const Shape& shape) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  for (int64_t extent : shape) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

int64_t ElementCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

/// A new initializer; its bytes are to be filled in.
std::string& AddInitializer(onnx::GraphProto& graph, const std::string& name, int type,
                            const Shape& shape, int64_t bytes_per_element) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (int64_t extent : shape) tensor.add_dims(extent);
  tensor.mutable_raw_data()->resize(ElementCount(shape) * bytes_per_element);
  return *tensor.mutable_raw_data();
}

void AddAttribute(onnx::NodeProto& node, const Attribute& attribute) {
  onnx::AttributeProto& proto = *node.add_attribute();
  proto.set_name(attribute.name);
  if (const auto* integer = std::get_if<int64_t>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*real);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t i : *integers) proto.add_ints(i);
  } else if (const auto* reals = std::get_if<std::vector<float>>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (float f : *reals) proto.add_floats(f);
  } else {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& s : std::get<std::vector<std::string>>(attribute.value)) {
      proto.add_strings(s);
    }
  }
}

}  // namespace

GraphBuilder::GraphBuilder(const std::string& name, int opset, uint64_t seed)
    : model_(std::make_unique<onnx::ModelProto>()), random_(seed) {
  model_->set_ir_version(opset >= 15 ? 8 : 7);
  model_->set_producer_name("bayloom-models");
  model_->add_opset_import()->set_version(opset);
  model_->mutable_graph()->set_name(name);
}

GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;
GraphBuilder::~GraphBuilder() = default;

Value GraphBuilder::Input(const std::string& name, const Shape& shape) {
  Declare(*model_->mutable_graph()->add_input(), name, onnx::TensorProto::FLOAT, shape);
  return name;
}

Value GraphBuilder::IndexInput(const std::string& name, const Shape& shape) {
  Declare(*model_->mutable_graph()->add_input(), name, onnx::TensorProto::INT64, shape);
  return name;
}

void GraphBuilder::Output(const Value& value, const Shape& shape) {
  Declare(*model_->mutable_graph()->add_output(), value, onnx::TensorProto::FLOAT, shape);
}

Value GraphBuilder::Weight(const std::string& name, const Shape& shape, int64_t fan_in,
                           double gain) {
  // A uniform distribution over [-b, b) has the standard deviation b / sqrt(3).
  const auto bound = static_cast<float>(gain * std::sqrt(3.0 / static_cast<double>(fan_in)));
  return Uniform(name, shape, -bound, bound);
}

Value GraphBuilder::Uniform(const std::string& name, const Shape& shape, float low, float high) {
  std::string& bytes = AddInitializer(*model_->mutable_graph(), name, onnx::TensorProto::FLOAT,
                                      shape, sizeof(float));
  // 24 random bits fill a float's significand; every draw of 64 bits serves two elements.
  const float step = (high - low) / static_cast<float>(1 << 24);
  const auto at = [&](uint64_t bits) { return low + step * static_cast<float>(bits >> 40); };
  for (size_t offset = 0; offset < bytes.size(); offset += 2 * sizeof(float)) {
    const uint64_t bits = random_.Next();
    const float pair[2] = {at(bits), at(bits << 32)};
    std::memcpy(&bytes[offset], pair, std::min(sizeof(pair), bytes.size() - offset));
  }
  return name;
}

Value GraphBuilder::Constant(const std::string& name, const Shape& shape,
                             const std::vector<float>& values) {
  std::string& bytes = AddInitializer(*model_->mutable_graph(), name, onnx::TensorProto::FLOAT,
                                      shape, sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return name;
}

Value GraphBuilder::Constant(const std::string& name, const Shape& shape,
                             const std::vector<int64_t>& values) {
  std::string& bytes = AddInitializer(*model_->mutable_graph(), name, onnx::TensorProto::INT64,
                                      shape, sizeof(int64_t));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return name;
}

Value GraphBuilder::Constant(const std::string& name, const Shape& shape,
                             const std::vector<bool>& values) {
  std::string& bytes =
      AddInitializer(*model_->mutable_graph(), name, onnx::TensorProto::BOOL, shape, 1);
  for (size_t i = 0; i < values.size(); ++i) bytes[i] = values[i] ? 1 : 0;
  return name;
}

Value GraphBuilder::Node(const std::string& op, const std::vector<Value>& inputs,
                         const std::vector<Attribute>& attributes) {
  return Node(op, inputs, attributes, 1).front();
}

std::vector<Value> GraphBuilder::Node(const std::string& op, const std::vector<Value>& inputs,
                                      const std::vector<Attribute>& attributes, int outputs) {
  onnx::GraphProto& graph = *model_->mutable_graph();
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(op + "_" + std::to_string(graph.node_size()));
  for (const Value& input : inputs) node.add_input(input);
  for (const Attribute& attribute : attributes) AddAttribute(node, attribute);
  std::vector<Value> values;
  for (int i = 0; i < outputs; ++i) {
    values.push_back(node.name() + (outputs > 1 ? "." + std::to_string(i) : ""));
    node.add_output(values.back());
  }
  return values;
}

void GraphBuilder::Save(const std::string& path) const {
  base::WriteFile(path, [this](std::ostream& file) {
    const bool is_complete = model_->SerializeToOstream(&file);
    if (!is_complete && file) throw std::length_error("an ONNX file holds at most 2 GiB");
  });
}

}  // namespace bayloom::models
