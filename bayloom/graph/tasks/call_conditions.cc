// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/tasks/call_conditions.h"

#include <algorithm>
#include <utility>

#include "bayloom/graph/open/open_number.h"

namespace bayloom::graph {
namespace {

/// When a value is read.
struct Need {
  enum class Kind : uint8_t { kNever, kWhere, kAlways };
  Kind kind = Kind::kNever;
  Length margin = 0;  ///< kWhere: where this is above 0,
  int axis = -1;      ///< of what lies at r along this axis, where it is above r; -1: of all of it

  Need OfWhole() const {
    Need need = *this;
    need.axis = -1;
    return need;
  }

  /// When a value is read that is read both then and then.
  void Add(const Need& other, std::span<const Symbol> symbols) {
    if (other.kind == Kind::kNever || kind == Kind::kAlways) return;
    if (kind == Kind::kNever || other.kind == Kind::kAlways) {
      *this = other;
      return;
    }
    const tensor::SizeRange more = (other.margin - margin).Range(symbols);
    const int same_axis = axis == other.axis ? axis : -1;
    if (more.smallest < 0 && more.largest > 0) {
      *this = {Kind::kAlways};
    } else if (more.largest > 0) {
      margin = other.margin;
    }
    axis = same_axis;
  }
};

class NeedFinder {
 public:
  explicit NeedFinder(const Graph& graph) : graph_(graph), needs_(graph.values.size()) {
    for (const GraphOutput& output : graph.outputs) {
      needs_[output.value] = {Need::Kind::kAlways};
    }
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
      const Need need = needs_[node->output()];
      if (need.kind == Need::Kind::kNever) continue;
      const bool has_elements = node->kind == NodeKind::kMap || node->kind == NodeKind::kJoin;
      if (has_elements && node->stage.value->op == tensor::ExprOp::kSelect) {
        AddParts(*node, need);
        continue;
      }
      for (ValueId operand : OperandsOf(*node)) Add(operand, need.OfWhole());
    }
  }

  const Need& of(ValueId value) const { return needs_[value]; }

 private:
  void Add(ValueId value, const Need& need) { needs_[value].Add(need, graph_.symbols); }

  /// Of a value with other elements from some places on: `i < end ? part : rest`.
  void AddParts(const Node& node, const Need& whole) {
    tensor::Expr rest = node.stage.value;
    int axis = -1;
    Length start = 0;
    while (rest->op == tensor::ExprOp::kSelect) {
      const tensor::Expr& condition = rest->operands[0];
      const bool is_less = condition->op == tensor::ExprOp::kLess &&
                           condition->operands[0]->op == tensor::ExprOp::kIter;
      if (!is_less || (axis >= 0 && condition->operands[0]->index != axis)) break;
      const std::optional<Length> end = LengthOf(graph_, condition->operands[1]);
      if (!end) break;
      axis = condition->operands[0]->index;
      AddPart(node, whole, axis, start, rest->operands[1]);
      start = *end;
      rest = rest->operands[2];
    }
    AddPart(node, whole, axis, start, rest);
  }

  /// Of what `part` reads, which are the elements from place `start` on along the axis.
  void AddPart(const Node& node, const Need& whole, int axis, const Length& start,
               const tensor::Expr& part) {
    Need need = whole.OfWhole();
    if (axis >= 0) {
      const tensor::Bound& bound = node.stage.iters[static_cast<size_t>(axis)].bound;
      if (whole.axis == axis) {
        need.margin = whole.margin - start;
      } else if (bound.is_open() && bound.step == 1) {
        need = {Need::Kind::kWhere, *graph_.values[bound.size].size + Length(bound.beyond) - start};
      }
    }
    tensor::Visit(part, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      Need of_rows = need;
      // Rows of the part follow each other as those of the whole do.
      if (axis >= 0 && e.get() == part.get() && std::cmp_less(axis, e->operands.size()) &&
          BeginsAt(e->operands[static_cast<size_t>(axis)], axis, start)) {
        of_rows.axis = axis;
      }
      Add(e->index, of_rows);
    });
  }

  /// Whether the index is the iterator less the start.
  bool BeginsAt(const tensor::Expr& index, int iter, const Length& start) const {
    if (index->op == tensor::ExprOp::kIter) return index->index == iter && start == Length(0);
    const bool is_sub = index->op == tensor::ExprOp::kSub;
    if (!is_sub && index->op != tensor::ExprOp::kAdd) return false;
    const tensor::Expr& first = index->operands[0];
    if (first->op != tensor::ExprOp::kIter || first->index != iter) return false;
    const std::optional<Length> rest = LengthOf(graph_, index->operands[1]);
    return rest && (is_sub ? *rest : Length(0) - *rest) == start;
  }

  const Graph& graph_;
  std::vector<Need> needs_;  // by value
};

}  // namespace

std::vector<std::optional<Length>> ConditionsOfCalls(const TaskGraph& network) {
  const Graph& graph = network.graph;
  std::vector<std::optional<Length>> conditions(network.calls.size());
  if (graph.symbols.empty()) return conditions;
  const NeedFinder needs(graph);
  for (size_t c = 0; c < network.calls.size(); ++c) {
    Need need;
    for (int node : network.calls[c].nodes) {
      need.Add(needs.of(graph.nodes[node].output()), graph.symbols);
    }
    if (need.kind != Need::Kind::kWhere) continue;
    // What is found after the call does not say whether the call is needed.
    const bool is_known = std::ranges::none_of(
        need.margin.Symbols(), [&](int symbol) { return graph.symbols[symbol].is_found; });
    const bool may_be_left_out = is_known && need.margin.Range(graph.symbols).smallest <= 0;
    if (may_be_left_out) conditions[c] = need.margin;
  }
  return conditions;
}

}  // namespace bayloom::graph
