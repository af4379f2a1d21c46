// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/value_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/onnx_tensor.h"

namespace bayloom::graph {
namespace {

constexpr int kMaxTypeNumber = 63;

bool IsFloatOfGraph(int type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::BFLOAT16;
}

/// The number of a type by its name; 0: there is none.
int TypeNumber(std::string_view name) {
  for (int type = 1; type <= kMaxTypeNumber; ++type) {
    if (ElementTypeName(type) == name) return type;
  }
  return 0;
}

/// The type that an attribute names, if one does.
std::optional<int> NamedByAttribute(const onnx::NodeProto& node) {
  constexpr std::array<std::string_view, 4> kNames = {"to", "dtype", "output_dtype",
                                                      "output_datatype"};
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const bool is_type = std::ranges::find(kNames, attribute.name()) != kNames.end();
    if (is_type && attribute.type() == onnx::AttributeProto::INT && attribute.i() > 0 &&
        attribute.i() <= kMaxTypeNumber) {
      return static_cast<int>(attribute.i());
    }
  }
  return std::nullopt;
}

}  // namespace

std::string ElementTypeName(int type) {
  if (type == onnx::TensorProto::STRING) return "string";
  if (type == onnx::TensorProto::COMPLEX64) return "complex64";
  if (type == onnx::TensorProto::COMPLEX128) return "complex128";
  if (const SmallType* small = FindSmallType(type)) return std::string(small->name);
  try {
    return OnnxName(DTypeFromOnnx(type));
  } catch (const InputError&) {
    return "";
  }
}

std::string SchemaTypeName(const NamedValue& value) {
  const std::string name = ElementTypeName(value.type);
  return name.empty() || !value.sequence ? name : fmt::format("seq(tensor({}))", name);
}

int OutputType(const Schema& schema, const onnx::NodeProto& node, int output,
               const std::vector<int>& inputs) {
  const SchemaParameter* wanted = Schema::At(schema.outputs, static_cast<size_t>(output));
  if (!wanted) return 0;
  if (!wanted->type.empty() && wanted->is_homogeneous) {
    bool is_bound = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const SchemaParameter* parameter = Schema::At(schema.inputs, i);
      if (!parameter || parameter->type != wanted->type || !parameter->is_homogeneous) continue;
      is_bound = is_bound || static_cast<int>(i) < node.input_size();
      if (inputs[i] != 0) return inputs[i];
    }
    if (is_bound) return 0;
  }
  if (const std::optional<int> named = NamedByAttribute(node)) return *named;
  if (wanted->types && wanted->types->size() == 1) return TypeNumber(wanted->types->front());
  return 0;
}

int ImportedType(const Schema& schema, const onnx::NodeProto& node, int output,
                 const std::vector<int>& inputs, const tensor::Tensor& tensor,
                 const SmallType* small) {
  if (small) return small->onnx;
  if (tensor.dtype() != tensor::DType::kFloat32) return DTypeToOnnx(tensor.dtype());
  const int declared = OutputType(schema, node, output, inputs);
  if (IsFloatOfGraph(declared)) return declared;
  const bool any_narrow = std::ranges::any_of(inputs, [](int type) {
    return type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16 || type == 0;
  });
  const bool has_graph = std::ranges::any_of(
      node.attribute(), [](const onnx::AttributeProto& attribute) { return attribute.has_g(); });
  return any_narrow || has_graph ? 0 : onnx::TensorProto::FLOAT;
}

}  // namespace bayloom::graph
