// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::IterVar;
using Exprs = std::vector<Expr>;
using Shape = std::vector<int64_t>;

/// Whether the index is a mixed-radix number of iterators that no other index has, and runs over
/// the whole extent: each position once.
bool CountsThrough(const Expr& index, int64_t extent, const std::vector<tensor::Iter>& iters,
                   std::set<size_t>& used) {
  const auto linear = tensor::ToLinear(index, static_cast<int>(iters.size()));
  if (!linear || linear->constant != 0) return false;
  std::vector<std::pair<int64_t, size_t>> digits;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (linear->coefficients[i] == 0 || iters[i].extent == 1) continue;
    if (!used.insert(i).second) return false;
    digits.emplace_back(linear->coefficients[i], i);
  }
  std::ranges::sort(digits);
  int64_t radix = 1;
  for (const auto& [coefficient, iter] : digits) {
    if (coefficient != radix) return false;
    radix *= iters[iter].extent;
  }
  return radix == extent;
}

/// Whether the node moves every element of a tensor to one place, rows along memory as a whole:
/// windows of an image, heads of a sequence.
bool MovesRows(const Graph& graph, const Node& node) {
  if (!IsMove(node) || node.group >= 0) return false;
  const Expr& load = node.stage.value;
  const Shape& shape = graph.values[load->index].shape;
  const int last = static_cast<int>(node.stage.iters.size()) - 1;
  if (shape.empty() || shape.back() == 1 || last < 0 ||
      graph.values[load->index].ElementCount() != PointsOf(node) ||
      load->operands.back()->op != tensor::ExprOp::kIter || load->operands.back()->index != last) {
    return false;
  }
  std::set<size_t> used;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!CountsThrough(load->operands[d], shape[d], node.stage.iters, used)) return false;
  }
  return true;
}

Exprs Places(const Node& node) {
  Exprs places;
  for (size_t i = 0; i < node.stage.iters.size(); ++i)
    places.push_back(IterVar(static_cast<int>(i)));
  return places;
}

class Mover {
 public:
  explicit Mover(Graph& graph) : graph_(graph) {}

  void Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!MovesRows(graph_, graph_.nodes[n])) continue;
      Refresh();
      if (!ComputeInPlace(n)) (void)MoveIntoReader(n);
    }
    RemoveDeadNodes(graph_);
  }

 private:
  void Refresh() {
    producers_ = graph_.Producers();
    consumers_ = graph_.Consumers();
    is_output_ = graph_.IsOutput();
    anchored_ = AnchoredValues(graph_);
  }

  /// The only reader of a value that is no output; -1 otherwise.
  int OnlyReader(ValueId value) const {
    return is_output_[value] || consumers_[value].size() != 1 ? -1 : consumers_[value][0];
  }

  /// What is moved is computed where it is wanted, if nothing else reads it.
  bool ComputeInPlace(size_t n) {
    Node& node = graph_.nodes[n];
    ValueId source = node.stage.value->index;
    std::optional<Exprs> place = node.stage.value->operands;
    if (OnlyReader(source) < 0 || producers_[source] < 0) return false;
    if (const Node& view = graph_.nodes[producers_[source]]; view.kind == NodeKind::kView) {
      place =
          IndicesBehindView(graph_.values[view.source].shape, graph_.values[source].shape, *place);
      source = view.source;
      if (!place || OnlyReader(source) < 0 || producers_[source] < 0) return false;
    }
    const Node& computes = graph_.nodes[producers_[source]];
    if (computes.kind != NodeKind::kMap || computes.group >= 0 || anchored_[source] ||
        AsConcatenation(graph_, computes)) {
      return false;
    }
    node.stage.value = tensor::SubstituteIters(computes.stage.value, *place);
    node.op = computes.op;
    return true;
  }

  /// An elementwise node that reads the moved tensor under another shape computes in the shape
  /// before, if that only takes its dimensions apart.
  bool MoveIntoReader(size_t n) {
    const Node moved = graph_.nodes[n];
    const int seen = OnlyReader(moved.output());
    if (seen < 0 || graph_.nodes[seen].kind != NodeKind::kView) return false;
    const ValueId view = graph_.nodes[seen].output();
    const int reader = OnlyReader(view);
    if (reader < 0) return false;
    Node& node = graph_.nodes[reader];
    if (node.kind != NodeKind::kMap || node.group >= 0 || !ReadsInPlace(graph_, node, view)) {
      return false;
    }
    const Shape before = graph_.values[moved.output()].shape;
    const auto place = IndicesBehindView(ShapeOf(node), before, Places(moved));
    if (!place) return false;
    const Expr value = RewriteLoads(tensor::SubstituteIters(node.stage.value, *place),
                                    [&](const Expr& load) -> std::optional<Expr> {
                                      if (load->index != view) return std::nullopt;
                                      return moved.stage.value;
                                    });
    // The result has the reader's name and shape again as a view.
    const ValueId result = node.output();
    Node inner = node;
    inner.stage.iters = SpatialIters(before);
    inner.stage.value = value;
    inner.stage.output = static_cast<ValueId>(graph_.values.size());
    const Value& shown = graph_.values[result];
    graph_.values.push_back({shown.name + ".moved", shown.dtype, before, nullptr});
    Node shows;
    shows.op = "view";
    shows.kind = NodeKind::kView;
    shows.source = inner.output();
    shows.stage.name = node.stage.name;
    shows.stage.output = result;
    graph_.nodes[reader] = std::move(inner);
    graph_.nodes.insert(graph_.nodes.begin() + reader + 1, std::move(shows));
    return true;
  }

  Graph& graph_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<bool> is_output_, anchored_;
};

}  // namespace

void MoveElementwise(Graph& graph) { Mover(graph).Run(); }

}  // namespace bayloom::graph
