// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/legacy_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/node_schema.h"

namespace bayloom::graph {
namespace {

/// These took their second operand's place from the attributes `broadcast` and `axis`.
const std::set<std::string_view>& BroadcastingOperators() {
  static const std::set<std::string_view> operators = {
      "Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"};
  return operators;
}

/// Removes the attribute and returns its value.
int64_t TakeInt(onnx::NodeProto& node, std::string_view name, int64_t otherwise) {
  int64_t value = otherwise;
  for (int i = node.attribute_size(); i-- > 0;) {
    if (node.attribute(i).name() != name) continue;
    value = node.attribute(i).i();
    node.mutable_attribute()->DeleteSubrange(i, 1);
  }
  return value;
}

/// The tensor with extents of 1 after its own, so that its first axis is `axis` of `rank`.
tensor::Tensor AlignedAt(GraphBuilder& builder, const tensor::Tensor& tensor, int64_t axis,
                         int64_t rank) {
  std::vector<int64_t> shape = tensor.shape();
  const int64_t own = static_cast<int64_t>(shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + own > rank) {
    throw InputError(
        fmt::format("attribute axis = {}: {} dimensions do not fit into {}", axis, own, rank));
  }
  shape.insert(shape.end(), static_cast<size_t>(rank - axis - own), 1);
  return builder.View(tensor, shape);
}

void AlignOperands(onnx::NodeProto& node, GraphBuilder& builder,
                   std::vector<std::optional<tensor::Tensor>>& inputs) {
  const int64_t broadcast = TakeInt(node, "broadcast", 0);
  const int64_t rank = static_cast<int64_t>(inputs[0]->shape().size());
  const int64_t own = static_cast<int64_t>(inputs[1]->shape().size());
  const int64_t axis = TakeInt(node, "axis", rank - own);
  if (broadcast == 0 && inputs[0]->shape() != inputs[1]->shape()) {
    throw InputError("the operands' shapes differ, and attribute broadcast is not set");
  }
  if (broadcast != 0 && own > 0) inputs[1] = AlignedAt(builder, *inputs[1], axis, rank);
}

/// In training more is computed than in inference.
void RefuseTraining(onnx::NodeProto& node) {
  if (TakeInt(node, "is_test", 0) == 0) {
    throw InputError("attribute is_test = 0: only inference is supported");
  }
}

}  // namespace

bool IsLegacy(const Schema& schema, int version) {
  if (!schema.domain.empty() || version >= kOldestOpset) return false;
  if (FindSchema(schema.domain, schema.name, kOldestOpset) == &schema) return false;
  static const std::set<std::string_view> others = {"AveragePool", "BatchNormalization", "Dropout",
                                                    "Gemm", "PRelu"};
  // Before operator set 6 other things were different, too.
  const bool is_known =
      BroadcastingOperators().contains(schema.name) || others.contains(schema.name);
  if (!is_known || version < kOldestOpset - 1) {
    throw InputError(fmt::format("operator set {} is not supported; supported are {} to {}",
                                 version, kOldestOpset, NewestOpset()));
  }
  return true;
}

onnx::NodeProto ModernForm(const onnx::NodeProto& node, GraphBuilder& builder,
                           std::vector<std::optional<tensor::Tensor>>& inputs) {
  onnx::NodeProto modern = node;
  const std::string& op = node.op_type();
  if (BroadcastingOperators().contains(op)) AlignOperands(modern, builder, inputs);
  if (op == "Gemm") TakeInt(modern, "broadcast", 0);
  if (op == "BatchNormalization" || op == "Dropout") RefuseTraining(modern);
  if (op == "PRelu" && inputs[1]->shape().size() == 1 && inputs[0]->shape().size() > 2) {
    inputs[1] = AlignedAt(builder, *inputs[1], 1, static_cast<int64_t>(inputs[0]->shape().size()));
  }
  return modern;
}

}  // namespace bayloom::graph
