// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/same_network.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "bayloom/graph/open/compare.h"
#include "bayloom/graph/open/instantiate.h"
#include "bayloom/graph/open/open_view.h"
#include "bayloom/tensor/simplify.h"

namespace bayloom::graph {
namespace {

/// A view's element, read from its source.
void WriteAsCopy(Graph& graph, Node& node) {
  const Value& value = graph.values[node.output()];
  const Value& source = graph.values[node.source];
  node.stage.iters = SpatialIters(value.shape);
  std::vector<tensor::Expr> place;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    place.push_back(tensor::IterVar(static_cast<int>(d)));
  }
  SizeTable no_sizes(graph);
  node.stage.value =
      tensor::Load(node.source, source.dtype,
                   IndicesBehindView({source.shape.begin(), source.shape.end()},
                                     {value.shape.begin(), value.shape.end()}, place, no_sizes));
  node.source = -1;
}

/// The element of a constant that a load with known indices reads; undefined for other loads.
tensor::Expr KnownElement(const Graph& graph, const tensor::Expr& load) {
  const Value& value = graph.values[load->index];
  if (!value.constant) return {};
  int64_t place = 0;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    const tensor::Expr& index = load->operands[d];
    const bool is_known = index->op == tensor::ExprOp::kInt && index->int_value >= 0 &&
                          index->int_value < value.shape[d];
    if (!is_known) return {};
    place = place * value.shape[d] + index->int_value;
  }
  return tensor::IsFloat(value.dtype)
             ? tensor::FloatLiteral(value.constant->Get(place), value.dtype)
             : tensor::IntLiteral(value.constant->GetInt(place), value.dtype);
}

/// What a value is without its dimensions of length 1.
void Squeeze(Value& value) {
  if (std::erase(value.shape, 1) == 0 || !value.constant) return;
  value.constant =
      std::make_shared<const tensor::HostTensor>(value.dtype, value.shape, value.constant->data);
}

/// Writes a graph in a form in which equal networks are written alike: without dimensions and
/// iterators of length 1, with views as copies, elements of constants at known places as literals,
/// simplified indices, and without copies of whole tensors.
class NormalForm {
 public:
  explicit NormalForm(Graph graph) : graph_(std::move(graph)) {
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      same_.push_back(static_cast<ValueId>(v));
      shapes_.push_back(graph_.values[v].shape);
    }
  }

  Graph Run() {
    for (Node& node : graph_.nodes) {
      ZeroBehindLastRow(graph_, node);
      if (node.kind == NodeKind::kView) WriteAsCopy(graph_, node);
      if (node.IsAlias()) node.kind = NodeKind::kMap;
    }
    for (Value& value : graph_.values) Squeeze(value);
    for (Node& node : graph_.nodes) {
      Rewrite(node);
      if (const auto source = CopiedWhole(node)) same_[node.output()] = *source;
    }
    graph_.ReplaceOutputs([&](ValueId value) { return same_[value]; });
    return std::move(graph_);
  }

 private:
  void Rewrite(Node& node) {
    tensor::Stage& stage = node.stage;
    std::vector<tensor::Expr> iters;
    int left = 0;
    for (const tensor::Iter& iter : stage.iters) {
      iters.push_back(iter.extent == 1 ? tensor::Expr(0) : tensor::IterVar(left++));
    }
    std::erase_if(stage.iters, [](const tensor::Iter& iter) { return iter.extent == 1; });
    stage.value =
        tensor::Rewrite(stage.value, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
          if (e->op == tensor::ExprOp::kIter) return iters[e->index];
          if (e->op != tensor::ExprOp::kLoad) return std::nullopt;
          const tensor::Expr load = Squeezed(e);
          const bool is_call = node.kind == NodeKind::kCall;
          const tensor::Expr known = is_call ? tensor::Expr() : KnownElement(graph_, load);
          return known.defined() ? known : load;
        });
    if (node.kind != NodeKind::kCall) stage.value = tensor::Simplify(stage.value, stage.iters);
  }

  tensor::Expr Squeezed(const tensor::Expr& load) const {
    std::vector<tensor::Expr> indices;
    for (size_t d = 0; d < load->operands.size(); ++d) {
      if (shapes_[load->index][d] != 1) indices.push_back(load->operands[d]);
    }
    return tensor::Load(same_[load->index], load->dtype, std::move(indices));
  }

  /// What the node is a copy of, in the same shape.
  std::optional<ValueId> CopiedWhole(const Node& node) const {
    const tensor::Expr& load = node.stage.value;
    if (node.kind != NodeKind::kMap || load->op != tensor::ExprOp::kLoad) return std::nullopt;
    const Value& source = graph_.values[load->index];
    if (source.shape != graph_.values[node.output()].shape) return std::nullopt;
    for (size_t d = 0; d < source.shape.size(); ++d) {
      const tensor::Expr& index = load->operands[d];
      const bool is_own = index->op == tensor::ExprOp::kIter && index->index == static_cast<int>(d);
      if (!is_own) return std::nullopt;
    }
    return load->index;
  }

  Graph graph_;
  std::vector<ValueId> same_;                 // what a value is a copy of, or itself
  std::vector<std::vector<int64_t>> shapes_;  // with dimensions of length 1
};

/// What differs between a node and its counterpart, numbers included.
std::string DifferenceOf(const Node& node, const Counterpart& counterpart) {
  const bool is_compared = counterpart.value >= 0;  // else what reads it is not the same
  if (!is_compared || !counterpart.difference.empty()) return counterpart.difference;
  for (size_t i = 0; i < node.stage.iters.size(); ++i) {
    const int64_t extent = node.stage.iters[i].extent;
    if (extent != counterpart.extents[i]) {
      return fmt::format("has the extent {} in place of {}", counterpart.extents[i], extent);
    }
  }
  if (node.kind == NodeKind::kView) return "";
  const std::vector<const tensor::ExprNode*> literals = LiteralsOf(node.stage.value);
  for (size_t i = 0; i < literals.size(); ++i) {
    if (!tensor::StructurallyEqual(tensor::Expr(std::make_shared<tensor::ExprNode>(*literals[i])),
                                   counterpart.literals[i])) {
      return "has another number in it";
    }
  }
  return "";
}

/// Of graphs in normal form.
std::string DifferenceOf(const Graph& graph, const Graph& other) {
  const std::vector<Counterpart> counterparts = Compare(graph, other);
  const std::vector<int> producers = graph.Producers();
  std::vector<bool> is_needed = graph.IsOutput();
  std::string found;
  const auto note = [&](ValueId value, const std::string& difference) {
    if (!difference.empty()) found = fmt::format("{} {}", Described(graph, value), difference);
  };
  // Of what has no elements it does not matter how they are computed.
  const auto is_same_constant = [&](ValueId value) {
    const bool has_data = counterparts[value].is_corner || graph.values[value].ElementCount() == 0;
    return has_data && counterparts[value].shape == graph.values[value].shape;
  };
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const ValueId output = node->output();
    if (!is_needed[output] || is_same_constant(output)) continue;
    note(output, DifferenceOf(*node, counterparts[output]));
    for (ValueId operand : OperandsOf(*node)) is_needed[operand] = true;
  }
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const auto id = static_cast<ValueId>(v);
    if (!is_needed[v] || producers[v] >= 0 || is_same_constant(id)) continue;
    if (graph.values[v].constant && counterparts[v].value >= 0) note(id, "has other data");
    note(id, counterparts[v].difference);
    const bool is_compared = counterparts[v].value >= 0;
    if (is_compared && counterparts[v].shape != graph.values[v].shape) {
      note(id, "has another shape");
    }
  }
  return found;
}

}  // namespace

std::string FirstDifference(const Graph& graph, const Graph& other) {
  std::string difference = DifferenceOf(NormalForm(graph).Run(), NormalForm(other).Run());
  for (size_t i = 0; difference.empty() && i < graph.outputs.size(); ++i) {
    const Value& output = graph.values[graph.outputs[i].value];
    if (output.shape == other.values[other.outputs.at(i).value].shape) continue;
    difference = fmt::format("output '{}' has another shape", graph.outputs[i].name);
  }
  return difference;
}

}  // namespace bayloom::graph
