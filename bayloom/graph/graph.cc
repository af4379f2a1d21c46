// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bayloom/tensor/program.h"

namespace bayloom::graph {

int64_t Value::ElementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

std::vector<ValueId> OperandsOf(const Node& node) {
  if (node.kind == NodeKind::kView) return {node.source};
  std::vector<ValueId> operands;
  tensor::Visit(node.stage.value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kLoad) return;
    if (std::find(operands.begin(), operands.end(), e->index) == operands.end()) {
      operands.push_back(e->index);
    }
  });
  return operands;
}

std::vector<tensor::Iter> SpatialIters(const std::vector<int64_t>& shape) {
  constexpr std::string_view kImageAxes = "nchw", kAxes = "ijlmopqstuvxyz";
  std::vector<tensor::Iter> iters;
  for (size_t d = 0; d < shape.size(); ++d) {
    const std::string_view names = shape.size() == kImageAxes.size() ? kImageAxes : kAxes;
    std::string name = d < names.size() ? std::string(1, names[d]) : fmt::format("i{}", d);
    iters.push_back({std::move(name), shape[d], tensor::IterKind::kSpatial});
  }
  return iters;
}

std::vector<int> Graph::Producers() const {
  std::vector<int> producers(values.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i) producers[nodes[i].output()] = static_cast<int>(i);
  return producers;
}

std::vector<std::vector<int>> Graph::Consumers() const {
  std::vector<std::vector<int>> consumers(values.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (ValueId operand : OperandsOf(nodes[i])) consumers[operand].push_back(static_cast<int>(i));
  }
  return consumers;
}

std::vector<bool> Graph::IsOutput() const {
  std::vector<bool> is_output(values.size(), false);
  for (const GraphOutput& output : outputs) is_output[output.value] = true;
  for (const FoundLength& length : found) is_output[length.count] = true;
  return is_output;
}

void Graph::ReplaceOutputs(const std::function<ValueId(ValueId)>& replacement) {
  for (GraphOutput& output : outputs) output.value = replacement(output.value);
  for (FoundLength& length : found) length.count = replacement(length.count);
}

std::string BoundText(int64_t least, int64_t most) {
  if (least == most) return fmt::format("{}", most);
  return least == 0 ? fmt::format("at most {}", most) : fmt::format("{} to {}", least, most);
}

std::vector<int64_t> ShapeAt(const Graph& graph, ValueId id, std::span<const int64_t> lengths) {
  const Value& value = graph.values[id];
  std::vector<int64_t> shape = value.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    const ValueId bound = value.BoundOf(d);
    if (bound >= 0) shape[d] = graph.values[bound].size->Evaluate(lengths);
  }
  return shape;
}

std::vector<ValueId> SizesOf(const Graph& graph, const Node& node) {
  std::vector<ValueId> sizes;
  const auto add = [&](ValueId size) {
    if (size >= 0 && std::ranges::count(sizes, size) == 0) sizes.push_back(size);
  };
  if (node.kind == NodeKind::kCall || node.kind == NodeKind::kView) return sizes;
  for (ValueId operand : OperandsOf(node)) {
    for (ValueId size : graph.values[operand].bounds) add(size);
  }
  for (const tensor::Iter& iter : node.stage.iters) add(iter.bound.size);
  tensor::Visit(node.stage.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kSize) add(e->index);
  });
  return sizes;
}

std::vector<ValueId> CountsBefore(const Graph& graph, const Node& node) {
  std::vector<ValueId> counts;
  if (graph.found.empty()) return counts;
  for (ValueId size : SizesOf(graph, node)) {
    const std::set<int> symbols = graph.values[size].size->Symbols();
    for (const FoundLength& length : graph.found) {
      if (symbols.contains(length.symbol)) counts.push_back(length.count);
    }
  }
  return counts;
}

namespace {

/// Values that an output depends on.
std::vector<bool> LiveValues(const Graph& graph) {
  std::vector<bool> live = graph.IsOutput();
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!live[node->output()]) continue;
    for (ValueId operand : OperandsOf(*node)) live[operand] = true;
  }
  return live;
}

/// Sizes that an expression or a live value names.
void AddSizes(const Graph& graph, std::vector<bool>& live) {
  for (const Node& node : graph.nodes) {
    if (!live[node.output()]) continue;
    for (const tensor::Iter& iter : node.stage.iters) {
      if (iter.bound.is_open()) live[iter.bound.size] = true;
    }
    if (node.kind == NodeKind::kView) continue;
    tensor::Visit(node.stage.value, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kSize) live[e->index] = true;
    });
  }
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!live[v]) continue;
    for (ValueId bound : graph.values[v].bounds) {
      if (bound >= 0) live[bound] = true;
    }
  }
}

void Renumber(Node& node, const std::vector<ValueId>& new_id) {
  node.stage.output = new_id[node.stage.output];
  for (tensor::Iter& iter : node.stage.iters) {
    if (iter.bound.is_open()) iter.bound.size = new_id[iter.bound.size];
  }
  if (node.kind == NodeKind::kView) {
    node.source = new_id[node.source];
    return;
  }
  node.stage.value =
      tensor::Rewrite(node.stage.value, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
        if (e->op == tensor::ExprOp::kSize) return tensor::SizeOf(new_id[e->index]);
        if (e->op != tensor::ExprOp::kLoad || new_id[e->index] == e->index) return std::nullopt;
        return tensor::Load(new_id[e->index], e->dtype, e->operands);
      });
}

}  // namespace

void RemoveDeadNodes(Graph& graph) {
  std::vector<bool> live = LiveValues(graph);
  std::erase_if(graph.nodes, [&](const Node& node) { return !live[node.output()]; });
  for (ValueId input : graph.inputs) live[input] = true;
  for (const State& state : graph.states) live[state.memory] = true;
  AddSizes(graph, live);

  std::vector<ValueId> new_id(graph.values.size(), -1);
  std::vector<Value> values;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!live[v]) continue;
    new_id[v] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(values);
  for (Value& value : graph.values) {
    for (ValueId& bound : value.bounds) {
      if (bound >= 0) bound = new_id[bound];
    }
  }
  for (Node& node : graph.nodes) Renumber(node, new_id);
  for (ValueId& input : graph.inputs) input = new_id[input];
  graph.ReplaceOutputs([&](ValueId value) { return new_id[value]; });
  for (State& state : graph.states) {
    for (ValueId* value : {&state.past, &state.present, &state.memory}) *value = new_id[*value];
  }
}

bool IsOpen(const Value& value) {
  return std::ranges::any_of(value.bounds, [](ValueId size) { return size >= 0; });
}

std::string ToString(tensor::DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", tensor::ToString(dtype), fmt::join(shape, ", "));
}

std::string TypeOf(const Graph& graph, ValueId id) {
  const Value& value = graph.values[id];
  std::vector<std::string> shape;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    const ValueId bound = value.BoundOf(d);
    shape.push_back(bound < 0 ? fmt::format("{}", value.shape[d]) : graph.values[bound].name);
  }
  return fmt::format("{}[{}]", tensor::ToString(value.dtype), fmt::join(shape, ", "));
}

std::string Print(const Graph& graph) {
  std::vector<tensor::Buffer> names;  // what the expression printer knows values by
  for (const Value& value : graph.values) {
    tensor::Buffer buffer;
    buffer.name = value.name;
    buffer.dtype = value.dtype;
    buffer.shape = value.shape;
    names.push_back(std::move(buffer));
  }
  const auto typed = [&](ValueId id) {
    return fmt::format("{}: {}", graph.values[id].name, TypeOf(graph, id));
  };

  std::string text = fmt::format("graph {}\n", graph.name);
  for (const Symbol& symbol : graph.symbols) text += fmt::format("  open {}\n", symbol.ToString());
  for (ValueId input : graph.inputs) text += fmt::format("  input {}\n", typed(input));
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].constant) {
      text += fmt::format("  constant {}\n", typed(static_cast<ValueId>(v)));
    }
  }
  for (const Node& node : graph.nodes) {
    if (node.kind == NodeKind::kView) {
      text += fmt::format("  {} = view {}\n", typed(node.output()), graph.values[node.source].name);
      continue;
    }
    text += fmt::format("  {} = {}{}", typed(node.output()), node.op,
                        node.IsAlias() ? " in place" : "");
    for (const tensor::Iter& iter : node.stage.iters)
      text += fmt::format(" {}<{}", iter.name, iter.extent);
    text += fmt::format(": {}\n", tensor::Print(node.stage.value, node.stage.iters, names));
  }
  for (const FoundLength& length : graph.found) {
    text += fmt::format("  found {} = {}\n", length.name, typed(length.count));
  }
  for (const GraphOutput& output : graph.outputs) {
    text += fmt::format("  output {} = {}\n", output.name, typed(output.value));
  }
  return text;
}

}  // namespace bayloom::graph
