// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/stated_shapes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

namespace bayloom::graph {
namespace {

/// Operators whose result has the shape that their inputs broadcast to.
constexpr std::array<std::string_view, 34> kBroadcasting = {
    "Abs",   "Add", "And",   "Cast",    "CastLike", "Ceil",  "Clip",  "Cos",  "Div",
    "Equal", "Exp", "Floor", "Greater", "Identity", "Less",  "Log",   "Max",  "Min",
    "Mod",   "Mul", "Neg",   "Not",     "Or",       "Pow",   "Round", "Relu", "Sigmoid",
    "Sign",  "Sin", "Sqrt",  "Sub",     "Tanh",     "Where", "Xor"};

}  // namespace

std::optional<int64_t> StatedShapes::BoundOfLast(const std::string& value) const {
  std::unordered_set<std::string> followed = {value};
  for (const onnx::NodeProto& node : graph_.node()) {
    const bool is_elementwise =
        node.output_size() == 1 && node.domain().empty() &&
        std::ranges::find(kBroadcasting, node.op_type()) != kBroadcasting.end();
    const bool follows = std::ranges::any_of(
        node.input(), [&](const auto& name) { return followed.contains(name); });
    if (!is_elementwise || !follows) continue;
    const auto shape = shapes_.find(node.output(0));
    if (shape != shapes_.end() && shape->second->dim_size() > 0) {
      const std::optional<int64_t> extent =
          Find(node.output(0), shape->second->dim_size() - 1).extent;
      if (extent) return std::max<int64_t>(*extent, 1);
    }
    followed.insert(node.output(0));
  }
  return std::nullopt;
}

}  // namespace bayloom::graph
