// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/graph_part.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/graph/builder.h"

namespace bayloom::graph {
namespace {

/// The value, computed by casting a new one of another type, which is returned.
ValueId AddCastInput(Graph& graph, const BorderValue& border, std::vector<Node>& casts) {
  const Value value = graph.values[border.value];
  const auto given = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({border.name, border.dtype, value.shape, nullptr});
  Node cast{.op = "cast", .kind = NodeKind::kMap};
  cast.stage.name = value.name + ".cast";
  cast.stage.iters = SpatialIters(value.shape);
  std::vector<tensor::Expr> place;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    place.push_back(tensor::IterVar(static_cast<int>(d)));
  }
  cast.stage.value = tensor::Cast(value.dtype, tensor::Load(given, border.dtype, place));
  cast.stage.output = border.value;
  casts.push_back(std::move(cast));
  return given;
}

}  // namespace

GraphPart ExtractPart(const Graph& whole, const std::string& name,
                      const std::vector<BorderValue>& inputs,
                      const std::vector<BorderValue>& outputs) {
  std::vector<bool> is_input(whole.values.size(), false), needed(whole.values.size(), false);
  for (const BorderValue& input : inputs) is_input[input.value] = true;
  for (const BorderValue& output : outputs) needed[output.value] = true;
  Graph part;
  part.name = name;
  part.values = whole.values;
  std::vector<std::string> input_names;
  std::vector<Node> nodes;
  for (auto node = whole.nodes.rbegin(); node != whole.nodes.rend(); ++node) {
    if (!needed[node->output()] || is_input[node->output()]) continue;
    for (ValueId operand : OperandsOf(*node)) needed[operand] = true;
    nodes.push_back(*node);
  }
  for (const BorderValue& input : inputs) {
    if (!needed[input.value]) continue;
    Value& value = part.values[input.value];
    const bool is_cast = value.dtype != input.dtype;
    if (!is_cast) value.name = input.name;
    input_names.push_back(input.name);
    part.inputs.push_back(is_cast ? AddCastInput(part, input, nodes) : input.value);
  }
  std::ranges::reverse(nodes);
  part.nodes = std::move(nodes);

  GraphBuilder builder(std::move(part));
  std::vector<GraphOutput> named;
  for (const BorderValue& output : outputs) {
    const Value& value = builder.graph().values[output.value];
    tensor::Tensor tensor(output.value, value.dtype, value.shape);
    if (value.dtype != output.dtype) {
      tensor = builder.Map("cast", value.shape, [&](const GraphBuilder::Exprs& place) {
        return tensor::Cast(output.dtype, tensor.At(place));
      });
    }
    named.push_back({output.name, tensor.id()});
    builder.Rename(tensor, output.name);
  }
  return {builder.Build(std::move(named)), std::move(input_names)};
}

int64_t PointsOf(const Graph& graph) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 2;
  int64_t sum = 0;
  for (const Node& node : graph.nodes) {
    int64_t points = 1;
    for (const tensor::Iter& iter : node.stage.iters) {
      points = iter.extent != 0 && points > kMax / iter.extent ? kMax : points * iter.extent;
    }
    sum = std::min(kMax, sum + std::min(points, kMax - sum));
  }
  return sum;
}

}  // namespace bayloom::graph
