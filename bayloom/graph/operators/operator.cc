// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/operator.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "bayloom/base/result.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/external_data.h"
#include "bayloom/graph/import/node_order.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/small_types.h"
#include "bayloom/graph/import/stated_shapes.h"
#include "bayloom/graph/operators/microsoft.h"

namespace bayloom::graph {

using onnx::AttributeProto;

std::string OperatorContext::op() const { return Printable(node_.op_type()); }

std::string OperatorContext::label() const {
  std::string label = op();
  std::transform(label.begin(), label.end(), label.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return label;
}

tensor::Tensor OperatorContext::Input(int i) {
  const NamedValue value = InputValue(i);
  if (!value.tensor) Refuse(fmt::format("input {} is a sequence; it has to be a tensor", i));
  return *value.tensor;
}

NamedValue OperatorContext::InputValue(int i) const {
  if (HasInput(i)) return {.tensor = inputs_[i], .type = InputType(i)};
  const bool is_sequence = i < std::ssize(input_values_) && input_values_[i].sequence;
  if (!is_sequence) Refuse(fmt::format("input {} is missing", i));
  return input_values_[i];
}

Sequence OperatorContext::InputSequence(int i) const {
  const NamedValue value = InputValue(i);
  if (!value.sequence) Refuse(fmt::format("input {} has to be a sequence", i));
  return *value.sequence;
}

int OperatorContext::InputType(int i) const {
  return i < std::ssize(input_values_) ? input_values_[i].type : 0;
}

std::vector<tensor::Tensor> OperatorContext::Inputs() {
  std::vector<tensor::Tensor> tensors;
  for (int i = 0; i < input_count(); ++i) tensors.push_back(Input(i));
  return tensors;
}

const tensor::HostTensor* OperatorContext::ConstantInput(int i) {
  return HasInput(i) ? builder_.ConstantOf(*inputs_[i]) : nullptr;
}

const tensor::HostTensor& OperatorContext::KnownInput(int i) {
  const tensor::Tensor input = Input(i);
  if (const tensor::HostTensor* tensor = ConstantInput(i)) return *tensor;
  throw RunTimeDependence(
      fmt::format("input {} is known at run time only; it has to be a constant", i),
      builder_.InputsBehind(input));
}

namespace {

const tensor::HostTensor& KnownList(OperatorContext& context, int i) {
  constexpr int64_t kMaxListLength = 1 << 16;
  const tensor::HostTensor* tensor = &context.KnownInput(i);
  if (tensor->shape.size() > 1 || tensor->ElementCount() > kMaxListLength) {
    context.Refuse(fmt::format("input {} has to be a list, not {}", i,
                               ToString(tensor->dtype, tensor->shape)));
  }
  return *tensor;
}

}  // namespace

std::vector<int64_t> OperatorContext::IntsInput(int i) {
  const tensor::HostTensor& tensor = KnownList(*this, i);
  if (!tensor::IsInteger(tensor.dtype)) {
    Refuse(
        fmt::format("input {} has to be of integers, not {}", i, tensor::ToString(tensor.dtype)));
  }
  std::vector<int64_t> values(tensor.ElementCount());
  for (size_t k = 0; k < values.size(); ++k) values[k] = tensor.GetInt(static_cast<int64_t>(k));
  return values;
}

std::optional<std::vector<int64_t>> OperatorContext::StatedShape(int output) const {
  if (stated_shapes_ == nullptr || !WantsOutput(output)) return std::nullopt;
  return stated_shapes_->ShapeOf(node_.output(output));
}

std::optional<int64_t> OperatorContext::BoundOfLast(int output) const {
  if (stated_shapes_ == nullptr || !WantsOutput(output)) return std::nullopt;
  return stated_shapes_->BoundOfLast(node_.output(output));
}

std::vector<int64_t> OperatorContext::LengthsInput(int i, const std::vector<int>& dimensions) {
  const tensor::Tensor input = Input(i);
  const tensor::HostTensor* known = ConstantInput(i);
  if (known == nullptr && (input.shape().size() > 1 || !tensor::IsInteger(input.dtype()))) {
    Refuse(fmt::format("input {} has to be a list of integers, not {}", i,
                       ToString(input.dtype(), input.shape())));
  }
  std::vector<int64_t> lengths;
  if (known != nullptr) lengths = IntsInput(i);
  const int64_t count = input.shape().empty() ? 1 : input.shape()[0];
  CheckedElementCount(std::vector<int64_t>(static_cast<size_t>(count), 1));
  lengths.resize(static_cast<size_t>(count));
  for (int64_t d = 0; d < count; ++d) {
    const auto named = static_cast<size_t>(d);
    FoundRequest request = RequestFor(
        0, named < dimensions.size() ? dimensions[named] : static_cast<int>(d), std::nullopt);
    if (known != nullptr) {
      const auto range = builder_.ComputedRange(d, lengths[named]);
      if (!range) continue;
      request.is_computed = true;
      request.least = std::min<int64_t>(range->first, 1);
      request.bound = range->second;
    }
    const std::vector<int64_t> place(input.shape().size(), d);
    const tensor::Tensor length = builder_.Map("length", {}, [&](const Exprs&) {
      return input.At({place.begin(), place.end()});
    });
    lengths[named] = builder_.FindLength(length, request);
  }
  return lengths;
}

std::string OperatorContext::NameOfOutput(int output) const {
  const std::string name = output < node_.output_size() ? node_.output(output) : "";
  return Printable(name.empty() ? NodeName(node_) : name);
}

FoundRequest OperatorContext::RequestFor(int output, int dimension,
                                         std::optional<int64_t> bound) const {
  const std::string name = output < node_.output_size() ? node_.output(output) : "";
  const StatedDimension stated =
      stated_shapes_ != nullptr ? stated_shapes_->Find(name, dimension) : StatedDimension();
  return {.tensor = NameOfOutput(output),
          .dimension = dimension,
          .dimension_name = Printable(stated.name),
          .bound = bound,
          .stated = stated.extent,
          .node = Printable(NodeName(node_)),
          .op = op()};
}

int64_t OperatorContext::FindLength(const tensor::Tensor& count, int output, int dimension,
                                    std::optional<int64_t> bound) {
  return builder_.FindLength(count, RequestFor(output, dimension, bound));
}

int64_t OperatorContext::CapacityFor(int output, int dimension, int64_t bound) const {
  return builder_.CapacityFor(RequestFor(output, dimension, bound));
}

std::vector<double> OperatorContext::NumbersInput(int i) {
  const tensor::HostTensor& tensor = KnownList(*this, i);
  std::vector<double> values(tensor.ElementCount());
  for (size_t k = 0; k < values.size(); ++k) values[k] = tensor.Get(static_cast<int64_t>(k));
  return values;
}

int64_t OperatorContext::IntInput(int i) {
  const std::vector<int64_t> values = IntsInput(i);
  if (values.size() != 1) Refuse(fmt::format("input {} has to be one integer", i));
  return values.front();
}

double OperatorContext::NumberInput(int i) {
  const std::vector<double> values = NumbersInput(i);
  if (values.size() != 1) Refuse(fmt::format("input {} has to be one number", i));
  return values.front();
}

const AttributeProto* OperatorContext::Find(std::string_view name) const {
  for (const AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const AttributeProto* OperatorContext::Find(std::string_view name, int type,
                                            std::string_view type_name, bool required) const {
  const AttributeProto* attribute = Find(name);
  if (!attribute && required) Refuse(fmt::format("attribute {} is missing", name));
  if (attribute && attribute->type() != type) {
    Refuse(fmt::format("attribute {} has to be {}", name, type_name));
  }
  return attribute;
}

bool OperatorContext::HasAttribute(std::string_view name) const { return Find(name) != nullptr; }

int64_t OperatorContext::Int(std::string_view name, std::optional<int64_t> otherwise) {
  const AttributeProto* a = Find(name, AttributeProto::INT, "an integer", !otherwise);
  return a ? a->i() : *otherwise;
}

float OperatorContext::Float(std::string_view name, std::optional<float> otherwise) {
  const AttributeProto* a = Find(name, AttributeProto::FLOAT, "a number", !otherwise);
  return a ? a->f() : *otherwise;
}

std::string OperatorContext::String(std::string_view name, std::optional<std::string> otherwise) {
  const AttributeProto* a = Find(name, AttributeProto::STRING, "a string", !otherwise);
  return a ? a->s() : *otherwise;
}

std::vector<int64_t> OperatorContext::Ints(std::string_view name, std::vector<int64_t> otherwise) {
  const AttributeProto* a = Find(name, AttributeProto::INTS, "a list of integers", false);
  return a ? std::vector<int64_t>(a->ints().begin(), a->ints().end()) : otherwise;
}

std::vector<float> OperatorContext::Floats(std::string_view name, std::vector<float> otherwise) {
  const AttributeProto* a = Find(name, AttributeProto::FLOATS, "a list of numbers", false);
  return a ? std::vector<float>(a->floats().begin(), a->floats().end()) : otherwise;
}

std::vector<std::string> OperatorContext::Strings(std::string_view name,
                                                  std::vector<std::string> otherwise) {
  const AttributeProto* a = Find(name, AttributeProto::STRINGS, "a list of strings", false);
  return a ? std::vector<std::string>(a->strings().begin(), a->strings().end()) : otherwise;
}

tensor::HostTensor OperatorContext::TensorAttribute(std::string_view name) {
  const AttributeProto* a = Find(name, AttributeProto::TENSOR, "a tensor", true);
  return TensorFromOnnx(a->t(), data_folder_ ? *data_folder_ : DataFolder());
}

int OperatorContext::Axis(std::string_view name, std::optional<int64_t> otherwise, int rank) {
  return CheckAxis(Int(name, otherwise), rank);
}

int OperatorContext::CheckAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    Refuse(fmt::format("axis {} of a tensor of {} dimensions", axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> OperatorContext::CheckAxes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int> checked;
  for (int64_t axis : axes) checked.push_back(CheckAxis(axis, rank));
  std::sort(checked.begin(), checked.end());
  if (std::adjacent_find(checked.begin(), checked.end()) != checked.end()) {
    Refuse("an axis is named twice");
  }
  return checked;
}

std::vector<NamedValue> OperatorContext::Subgraph(std::string_view attribute,
                                                  const std::vector<NamedValue>& inputs) {
  return subgraph_(*Find(attribute, AttributeProto::GRAPH, "a graph", true), inputs);
}

std::vector<tensor::Tensor> OperatorContext::TensorSubgraph(
    std::string_view attribute, const std::vector<tensor::Tensor>& inputs) {
  std::vector<NamedValue> values;
  for (const tensor::Tensor& input : inputs) values.push_back({.tensor = input});
  std::vector<tensor::Tensor> outputs;
  for (const NamedValue& output : Subgraph(attribute, values)) {
    if (!output.tensor) Refuse("the inner graph returns a sequence");
    outputs.push_back(*output.tensor);
  }
  return outputs;
}

int OperatorContext::output_count() const { return node_.output_size(); }

bool OperatorContext::WantsOutput(int i) const {
  return i < node_.output_size() && !node_.output(i).empty();
}

void OperatorContext::SetOutput(int i, tensor::Tensor tensor) {
  if (static_cast<int>(outputs_.size()) <= i) outputs_.resize(i + 1);
  outputs_[i] = std::move(tensor);
}

void OperatorContext::SetOutput(int i, tensor::Tensor tensor, const SmallType* small) {
  SetOutput(i, std::move(tensor));
  if (static_cast<int>(small_outputs_.size()) <= i) small_outputs_.resize(i + 1, nullptr);
  small_outputs_[i] = small;
}

void OperatorContext::SetOutput(int i, NamedValue value) {
  if (value.tensor) SetOutput(i, *value.tensor);
  if (std::ssize(output_values_) <= i) output_values_.resize(i + 1);
  output_values_[i] = std::move(value);
}

std::optional<NamedValue> OperatorContext::OutputValue(int i) const {
  if (i < std::ssize(output_values_) && !output_values_[i].IsOpaque()) return output_values_[i];
  const bool is_set = i < std::ssize(outputs_) && outputs_[i].has_value();
  return is_set ? std::optional(NamedValue{.tensor = outputs_[i]}) : std::nullopt;
}

const SmallType* OperatorContext::SmallTypeOf(int input) const {
  return input < static_cast<int>(small_inputs_.size()) ? small_inputs_[input] : nullptr;
}

const SmallType* OperatorContext::SmallTypeOfAttribute(std::string_view tensor) const {
  const AttributeProto* a = Find(tensor, AttributeProto::TENSOR, "a tensor", true);
  return FindSmallType(a->t().data_type());
}

const SmallType* OperatorContext::SmallTypeOfOutput(int i) const {
  return i < static_cast<int>(small_outputs_.size()) ? small_outputs_[i] : nullptr;
}

void OperatorContext::Refuse(const std::string& reason) const { throw InputError(reason); }

void OperatorContext::RefuseAttribute(std::string_view name, const std::string& value,
                                      const std::string& reason) const {
  Refuse(fmt::format("attribute {} = {}: {}", name, Printable(value), reason));
}

const Operator* FindOperator(std::string_view domain, std::string_view name) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const auto* table = [] {
    auto* operators = new std::map<Key, const Operator*>();
    for (std::span<const Operator> family : {ActivationOperators(),
                                             ArithmeticOperators(),
                                             AttentionOperators(),
                                             ComposedOperators(),
                                             ControlFlowOperators(),
                                             ConvolutionOperators(),
                                             DeterminantOperators(),
                                             FlexAttentionOperators(),
                                             GatherOperators(),
                                             GenerationOperators(),
                                             GroupNormalizationOperators(),
                                             IndexingOperators(),
                                             LinearAttentionOperators(),
                                             LossOperators(),
                                             MatmulOperators(),
                                             NormalizationOperators(),
                                             PaddingOperators(),
                                             PlacementOperators(),
                                             PoolingOperators(),
                                             QuantizationOperators(),
                                             QuantizedProductOperators(),
                                             RandomOperators(),
                                             RecurrentOperators(),
                                             ReductionOperators(),
                                             RegionOperators(),
                                             ResizeOperators(),
                                             SamplingOperators(),
                                             ScatterOperators(),
                                             SelectionOperators(),
                                             SequenceOperators(),
                                             ShapeOperators(),
                                             SlicingOperators(),
                                             SortingOperators(),
                                             SpectrumOperators(),
                                             TextOperators(),
                                             microsoft::ActivationOperators(),
                                             microsoft::AttentionOperators(),
                                             microsoft::BlockQuantizationOperators(),
                                             microsoft::ConvolutionOperators(),
                                             microsoft::EmbeddingOperators(),
                                             microsoft::MatmulOperators(),
                                             microsoft::NormalizationOperators(),
                                             microsoft::QuantizationOperators(),
                                             microsoft::QuantizedMatmulOperators(),
                                             microsoft::ExpertOperators(),
                                             microsoft::RefusedOperators(),
                                             microsoft::ShapeOperators()}) {
      for (const Operator& entry : family)
        operators->emplace(Key(entry.domain, entry.name), &entry);
    }
    return operators;
  }();
  const auto found = table->find({domain, name});
  return found == table->end() ? nullptr : found->second;
}

}  // namespace bayloom::graph
