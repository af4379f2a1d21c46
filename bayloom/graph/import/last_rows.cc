// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/last_rows.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::graph {
namespace {

constexpr std::array<std::string_view, 3> kProducts = {"Gemm", "MatMul", "MatMulNBits"};
constexpr std::array<std::string_view, 7> kElementwise = {"Add", "Cast", "Div", "Identity",
                                                          "Mul", "Sub",  "Tanh"};

bool IsInitializer(const onnx::GraphProto& graph, const std::string& name) {
  return std::ranges::any_of(graph.initializer(),
                             [&](const auto& tensor) { return tensor.name() == name; });
}

/// The number of the product that the output comes from; -1 if there is none.
int FindProduct(const onnx::GraphProto& graph, std::string name) {
  for (int n = graph.node_size(); n-- > 0;) {
    const onnx::NodeProto& node = graph.node(n);
    if (std::ranges::count(node.output(), name) == 0) continue;
    if (std::ranges::count(kProducts, node.op_type()) > 0) return n;
    if (std::ranges::count(kElementwise, node.op_type()) == 0) return -1;
    const auto other = std::ranges::find_if(
        node.input(), [&](const std::string& input) { return !IsInitializer(graph, input); });
    if (other == node.input().end()) return -1;
    name = *other;
  }
  return -1;
}

void AddInteger(onnx::GraphProto& graph, const std::string& name, int64_t value) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(1);
  tensor.add_int64_data(value);
}

/// The product's left operand goes through a slice.
void SliceLeft(onnx::GraphProto& graph, int product) {
  const std::string rows = graph.node(product).input(0), prefix = rows + ".last";
  AddInteger(graph, prefix + ".start", -1);
  AddInteger(graph, prefix + ".end", std::numeric_limits<int64_t>::max());
  AddInteger(graph, prefix + ".axis", -2);
  graph.mutable_node(product)->set_input(0, prefix);
  onnx::NodeProto& slice = *graph.add_node();
  slice.set_op_type("Slice");
  slice.set_name(prefix);
  for (const std::string& input : {rows, prefix + ".start", prefix + ".end", prefix + ".axis"}) {
    slice.add_input(input);
  }
  slice.add_output(prefix);
  for (int n = graph.node_size() - 1; n > product; --n) {
    graph.mutable_node()->SwapElements(n, n - 1);
  }
}

}  // namespace

void KeepLastRows(onnx::ModelProto& model, const std::vector<std::string>& outputs) {
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const std::string& name : outputs) {
    const auto output = std::ranges::find(*graph.mutable_output(), name,
                                          [](const auto& value) { return value.name(); });
    if (output == graph.mutable_output()->end()) {
      throw InputError(fmt::format("'{}' is no output whose last row could be computed",
                                   base::SingleLine(name)));
    }
    const int product = FindProduct(graph, name);
    if (product < 0) {
      throw InputError(
          fmt::format("the last row of '{}' cannot be computed alone: it does not come "
                      "from a matrix product, but for operators on single elements",
                      base::SingleLine(name)));
    }
    SliceLeft(graph, product);
    onnx::TensorShapeProto& shape = *output->mutable_type()->mutable_tensor_type()->mutable_shape();
    if (shape.dim_size() >= 2) {
      onnx::TensorShapeProto::Dimension& rows = *shape.mutable_dim(shape.dim_size() - 2);
      rows.clear_dim_param();
      rows.set_dim_value(1);
    }
  }
}

}  // namespace bayloom::graph
