// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/partial_import.h"

#include <fmt/format.h>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/node_order.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/small_types.h"
#include "bayloom/graph/import/value_types.h"

namespace bayloom::graph {
namespace {

/// Whether tensors of that type can be inputs of a graph.
bool IsTypeOfInputs(int type) {
  return !ElementTypeName(type).empty() && FindSmallType(type) == nullptr &&
         type != onnx::TensorProto::STRING && type != onnx::TensorProto::COMPLEX64 &&
         type != onnx::TensorProto::COMPLEX128;
}

}  // namespace

void PartialImport::ReadDeclarations(const onnx::GraphProto& model, const InputShapes& shapes) {
  const auto read = [&](const onnx::ValueInfoProto& value) {
    if (!value.type().has_tensor_type()) return;
    const int type = value.type().tensor_type().elem_type();
    if (type != 0) declared_types_[value.name()] = type;
    if (!IsTypeOfInputs(type)) return;
    const auto shape = shapes.KnownShapeOf(ReadDeclaredInput(value));
    if (shape) declared_[value.name()] = {type, *shape};
  };
  for (const auto& value : model.value_info()) read(value);
  for (const auto& output : model.output()) read(output);
}

std::string PartialImport::WhyToLeave(const onnx::NodeProto& node) const {
  const auto found = leave.find(&node);
  return found == leave.end() ? "" : found->second;
}

std::optional<TensorType> PartialImport::DeclaredType(const std::string& name) const {
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const auto found = declared_.find(name);
  return found == declared_.end() ? std::nullopt : std::optional(found->second);
}

void PartialImport::DefineOutputs(const onnx::NodeProto& node, const OpsetVersions& opsets,
                                  GraphBuilder& builder, Scope& scope) {
  std::vector<int> inputs;
  for (const std::string& name : node.input()) {
    const NamedValue* value = name.empty() ? nullptr : scope.Find(name);
    if (!value && !name.empty()) {
      throw InputError(fmt::format("node '{}': input '{}' is not defined",
                                   Printable(NodeName(node)), Printable(name)));
    }
    inputs.push_back(value ? value->type : 0);
  }
  const Schema* schema =
      FindSchema(DomainOf(node.domain()), node.op_type(), VersionOf(node, opsets));
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    if (scope.HasOwn(name)) throw InputError(fmt::format("'{}' is defined twice", Printable(name)));
    if (const std::optional<TensorType> type = DeclaredType(name)) {
      const tensor::Tensor tensor = builder.Input(name, DTypeFromOnnx(type->type), type->shape);
      scope.Define(name, {.tensor = tensor, .type = type->type});
      continue;
    }
    const auto declared = declared_types_.find(name);
    const int by_schema = schema ? OutputType(*schema, node, i, inputs) : 0;
    scope.DefineOpaque(name, declared != declared_types_.end() ? declared->second : by_schema);
  }
}

}  // namespace bayloom::graph
