// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/apply.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <map>

#include "bayloom/graph/operators/integer_operators.h"

namespace bayloom::graph {
namespace {

constexpr int kAppliedOpset = 17;

void SetValue(onnx::AttributeProto& attribute, const AttributeValue& value) {
  using onnx::AttributeProto;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto* number = std::get_if<double>(&value)) {
    attribute.set_type(AttributeProto::FLOAT);
    attribute.set_f(static_cast<float>(*number));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s(*text);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) {
    attribute.set_type(AttributeProto::INTS);
    attribute.mutable_ints()->Add(integers->begin(), integers->end());
  } else {
    const auto& numbers = std::get<std::vector<float>>(value);
    attribute.set_type(AttributeProto::FLOATS);
    attribute.mutable_floats()->Add(numbers.begin(), numbers.end());
  }
}

}  // namespace

std::vector<tensor::Tensor> ApplyOperatorAll(OperatorContext& context, const std::string& name,
                                             std::vector<std::optional<tensor::Tensor>> inputs,
                                             int outputs, const Attributes& attributes) {
  onnx::NodeProto node;
  node.set_op_type(name);
  for (int i = 0; i < outputs; ++i) node.add_output(fmt::format("{}", i));
  for (const auto& [key, value] : attributes.given) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(key);
    SetValue(attribute, value);
  }
  for (const auto& attribute : context.node().attribute()) {
    for (std::string_view own : attributes.own) {
      if (attribute.name() == own) *node.add_attribute() = attribute;
    }
  }
  OperatorContext inner(context.builder(), node, kAppliedOpset, std::move(inputs), nullptr);
  ImportOnIntegersOrFloats(*FindOperator("", name), inner);
  std::vector<tensor::Tensor> results;
  for (int i = 0; i < outputs; ++i) results.push_back(inner.outputs().at(i).value());
  return results;
}

tensor::Tensor ApplyOperator(OperatorContext& context, const std::string& name,
                             std::vector<std::optional<tensor::Tensor>> inputs,
                             const Attributes& attributes) {
  return ApplyOperatorAll(context, name, std::move(inputs), 1, attributes)[0];
}

std::optional<tensor::Tensor> OptionalInput(OperatorContext& context, int i) {
  return context.HasInput(i) ? std::optional(context.Input(i)) : std::nullopt;
}

tensor::Tensor Filled(OperatorContext& context, double value, tensor::DType dtype,
                      std::vector<int64_t> shape) {
  tensor::HostTensor data = tensor::HostTensor::Zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < data.ElementCount(); ++i) data.Set(i, value);
  return context.builder().Constant(context.label(), std::move(data));
}

tensor::Tensor LastAxisSlice(OperatorContext& context, const tensor::Tensor& x, int64_t first,
                             int64_t count) {
  std::vector<int64_t> shape = x.shape();
  if (first == 0 && count == shape.back()) return x;
  shape.back() = count;
  return context.builder().Map("slice", shape, [&](Exprs place) {
    place.back() = place.back() + tensor::Expr(first);
    return x.At(place);
  });
}

std::vector<int> ChannelsFirst(int rank) {
  std::vector<int> permutation = {0, rank - 1};
  for (int d = 1; d + 1 < rank; ++d) permutation.push_back(d);
  return permutation;
}

std::vector<int> ChannelsLast(int rank) {
  std::vector<int> permutation = {0};
  for (int d = 2; d < rank; ++d) permutation.push_back(d);
  permutation.push_back(1);
  return permutation;
}

tensor::Tensor Activate(OperatorContext& context, const tensor::Tensor& x, const std::string& name,
                        const std::vector<float>& parameters) {
  static const std::map<std::string, std::vector<std::string>> known = {
      {"", {}},
      {"Relu", {}},
      {"Tanh", {}},
      {"Sigmoid", {}},
      {"Softplus", {}},
      {"Softsign", {}},
      {"LeakyRelu", {"alpha"}},
      {"Elu", {"alpha"}},
      {"ThresholdedRelu", {"alpha"}},
      {"HardSigmoid", {"alpha", "beta"}},
      {"Clip", {"min", "max"}},
  };
  const auto found = known.find(name);
  if (found == known.end()) context.RefuseAttribute("activation", name, "it is not supported");
  if (name.empty()) return x;
  if (name == "Clip") {
    std::vector<std::optional<tensor::Tensor>> operands = {x};
    for (float bound : parameters) operands.push_back(Filled(context, bound, x.dtype(), {}));
    return ApplyOperator(context, name, operands);
  }
  Attributes attributes;
  for (size_t k = 0; k < std::min(parameters.size(), found->second.size()); ++k) {
    attributes.given.emplace_back(found->second[k], static_cast<double>(parameters[k]));
  }
  return ApplyOperator(context, name, {x}, attributes);
}

}  // namespace bayloom::graph
