// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/left_model.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <span>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/node_order.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/small_types.h"
#include "bayloom/graph/import/value_types.h"

namespace bayloom::graph {
namespace {

int64_t BytesOf(const onnx::TensorProto& tensor) {
  const int64_t count = CheckedElementCount({tensor.dims().begin(), tensor.dims().end()});
  if (const SmallType* small = FindSmallType(tensor.data_type())) return small->PackedBytes(count);
  return count * tensor::ByteSize(DTypeFromOnnx(tensor.data_type()));
}

void SetRawData(onnx::TensorProto& tensor, std::span<const std::byte> data) {
  tensor.set_raw_data(data.data(), data.size());
}

/// The tensor with its data in it.
onnx::TensorProto WithData(onnx::TensorProto tensor, const DataFolder& folder) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return tensor;
  const std::vector<std::byte> data = ReadExternal(tensor, folder, BytesOf(tensor));
  tensor.clear_external_data();
  tensor.clear_data_location();
  SetRawData(tensor, data);
  return tensor;
}

/// Data of the graph in the model's type, which is narrower where that is a small float.
tensor::HostTensor InType(const tensor::HostTensor& data, tensor::DType dtype) {
  if (data.dtype == dtype) return data;
  tensor::HostTensor converted = tensor::HostTensor::Zeros(dtype, data.shape);
  for (int64_t i = 0; i < data.ElementCount(); ++i) converted.Set(i, data.Get(i));
  return converted;
}

}  // namespace

LeftModelWriter::LeftModelWriter(const onnx::ModelProto& model, const PartialImport& import,
                                 DataFolder folder)
    : model_(model), import_(import), folder_(std::move(folder)) {
  const onnx::GraphProto& graph = model.graph();
  for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& value : *list) types_.emplace(value.name(), &value.type());
  }
  for (const auto& tensor : graph.initializer()) initializers_.emplace(tensor.name(), &tensor);
  for (const auto& tensor : graph.sparse_initializer()) {
    sparse_.emplace(tensor.values().name(), &tensor);
  }
}

const onnx::TypeProto* LeftModelWriter::TypeOf(const std::string& name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second;
}

bool LeftModelWriter::IsConstant(const std::string& name) const {
  if (initializers_.contains(name) || sparse_.contains(name)) return true;
  const auto value = import_.values.find(name);
  return value != import_.values.end() && value->second.tensor &&
         import_.graph.values[value->second.tensor->id()].constant;
}

onnx::ValueInfoProto LeftModelWriter::Describe(const std::string& name) const {
  onnx::ValueInfoProto info;
  info.set_name(name);
  const NamedValue& value = import_.values.at(name);
  if (value.tensor && value.type != 0) {
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(value.type);
    auto& shape = *type.mutable_shape();
    for (const int64_t extent : value.tensor->shape()) shape.add_dim()->set_dim_value(extent);
  } else if (const onnx::TypeProto* type = TypeOf(name)) {
    *info.mutable_type() = *type;
  } else if (value.type != 0) {
    info.mutable_type()->mutable_tensor_type()->set_elem_type(value.type);
  }
  return info;
}

void LeftModelWriter::AddConstant(const std::string& name, onnx::GraphProto& graph) const {
  if (const auto found = initializers_.find(name); found != initializers_.end()) {
    *graph.add_initializer() = WithData(*found->second, folder_);
    return;
  }
  if (const auto found = sparse_.find(name); found != sparse_.end()) {
    *graph.add_sparse_initializer() = *found->second;
    return;
  }
  const NamedValue& value = import_.values.at(name);
  const tensor::HostTensor& data = *import_.graph.values[value.tensor->id()].constant;
  const tensor::HostTensor typed =
      InType(data, value.type == 0 ? data.dtype : DTypeFromOnnx(value.type));
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(DTypeToOnnx(typed.dtype));
  for (const int64_t extent : typed.shape) tensor.add_dims(extent);
  SetRawData(tensor, typed.data);
}

std::string LeftModelWriter::Write(const std::vector<const onnx::NodeProto*>& nodes,
                                   const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs) const {
  onnx::ModelProto model;
  model.set_ir_version(model_.ir_version());
  model.set_producer_name("bayloom");
  *model.mutable_opset_import() = model_.opset_import();
  *model.mutable_functions() = model_.functions();
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name(model_.graph().name().empty() ? "graph" : model_.graph().name());
  std::set<std::string> constants;
  for (const onnx::NodeProto* node : nodes) {
    *graph.add_node() = *node;
    ForEachNameRead(*node, [&](const std::string& name) {
      if (IsConstant(name) && constants.insert(name).second) AddConstant(name, graph);
    });
  }
  for (const std::string& name : inputs) {
    onnx::ValueInfoProto info = Describe(name);
    if (!info.has_type()) {
      throw InputError(fmt::format(
          "the type of '{}', which nodes that are left out pass to each other, is not known; "
          "onnx.shape_inference.infer_shapes writes types into a model",
          Printable(name)));
    }
    *graph.add_input() = std::move(info);
  }
  for (const std::string& name : outputs) *graph.add_output() = Describe(name);
  std::string text;
  if (!model.SerializeToString(&text)) {
    throw InputError("the nodes that are left out have more data than one file can hold");
  }
  return text;
}

}  // namespace bayloom::graph
