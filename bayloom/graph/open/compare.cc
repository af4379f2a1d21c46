// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/graph/open/corner.h"

namespace bayloom::graph {
namespace {

bool IsLiteral(const tensor::ExprNode& e) {
  return e.op == tensor::ExprOp::kInt || e.op == tensor::ExprOp::kFloat;
}

/// A slice in place is a copy of rows.
NodeKind Copying(NodeKind kind) { return kind == NodeKind::kSlice ? NodeKind::kMap : kind; }

class Comparison {
 public:
  Comparison(const Graph& graph, const Graph& other)
      : graph_(graph), other_(other), found_(graph.values.size()) {}

  std::vector<Counterpart> Run() {
    const std::vector<int> producers = other_.Producers();
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      Pair(graph_.outputs[i].value, other_.outputs[i].value);
    }
    // Where nothing is found, what would be found in that is no length of its own.
    const bool finds_all = graph_.found.size() == other_.found.size();
    for (size_t i = 0; finds_all && i < graph_.found.size(); ++i) {
      Pair(graph_.found[i].count, other_.found[i].count);
    }
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      Counterpart& counterpart = found_[node->output()];
      if (counterpart.value < 0) continue;
      const int producer = producers[counterpart.value];
      if (producer < 0) {
        Differ(counterpart, "is not computed");
      } else {
        CompareNodes(*node, other_.nodes[producer], counterpart);
      }
    }
    for (size_t i = 0; i < graph_.inputs.size(); ++i) PairInput(graph_.inputs[i]);
    return std::move(found_);
  }

 private:
  static void Differ(Counterpart& counterpart, std::string reason) {
    if (counterpart.difference.empty()) counterpart.difference = std::move(reason);
  }

  void PairInput(ValueId input) {
    Counterpart& counterpart = found_[input];
    const auto same = std::ranges::find_if(other_.inputs, [&](ValueId v) {
      return other_.values[v].name == graph_.values[input].name;
    });
    if (same == other_.inputs.end()) return Differ(counterpart, "is no input");
    if (counterpart.value >= 0 && counterpart.value != *same) {
      Differ(counterpart, "is another input");
    }
    counterpart.shape = other_.values[*same].shape;
  }

  void Pair(ValueId id, ValueId other_id) {
    Counterpart& counterpart = found_[id];
    if (counterpart.value == other_id) return;
    if (counterpart.value >= 0) return Differ(counterpart, "is read in place of another value");
    counterpart.value = other_id;
    const Value& value = graph_.values[id];
    const Value& other = other_.values[other_id];
    counterpart.shape = other.shape;
    if (value.dtype != other.dtype) Differ(counterpart, "has another type");
    if (value.shape.size() != other.shape.size()) Differ(counterpart, "has another rank");
    if (!value.constant || !other.constant) return;
    counterpart.is_corner = value.constant == other.constant ||
                            IsCorner(*value.constant, *other.constant) ||
                            IsCorner(*other.constant, *value.constant);
    if (HasFewElements(other)) counterpart.few = other.constant;
  }

  void CompareNodes(const Node& node, const Node& other, Counterpart& counterpart) {
    const tensor::Stage& stage = node.stage;
    const tensor::Stage& other_stage = other.stage;
    const auto kinds_differ = [](const tensor::Iter& a, const tensor::Iter& b) {
      return a.kind != b.kind;
    };
    if (Copying(node.kind) != Copying(other.kind) || stage.reduction != other_stage.reduction) {
      return Differ(counterpart, fmt::format("is '{}'", other.op));
    }
    if (stage.iters.size() != other_stage.iters.size() ||
        !std::ranges::equal(stage.iters, other_stage.iters, std::not_fn(kinds_differ))) {
      return Differ(counterpart, "has other axes");
    }
    for (const tensor::Iter& iter : other_stage.iters) counterpart.extents.push_back(iter.extent);
    if (node.kind == NodeKind::kView) return Pair(node.source, other.source);
    seen_.clear();
    literals_.clear();
    CompareExprs(stage.value, other_stage.value, counterpart);
    if (!counterpart.difference.empty()) return;
    for (const tensor::ExprNode* literal : LiteralsOf(stage.value)) {
      counterpart.literals.push_back(literals_.at(literal));
    }
  }

  void CompareExprs(const tensor::Expr& e, const tensor::Expr& other, Counterpart& counterpart) {
    if (!seen_.emplace(e.get(), other.get()).second) return;
    const bool is_load = e->op == tensor::ExprOp::kLoad;
    if (e->op != other->op || e->dtype != other->dtype ||
        e->operands.size() != other->operands.size() || (!is_load && e->index != other->index)) {
      return Differ(counterpart, "is another expression");
    }
    if (is_load) Pair(e->index, other->index);
    if (IsLiteral(*e)) {
      const auto [known, is_new] = literals_.emplace(e.get(), other);
      if (!is_new && !tensor::StructurallyEqual(known->second, other)) {
        Differ(counterpart, "has two numbers in place of one");
      }
    }
    for (size_t i = 0; i < e->operands.size(); ++i) {
      CompareExprs(e->operands[i], other->operands[i], counterpart);
    }
  }

  const Graph& graph_;
  const Graph& other_;
  std::vector<Counterpart> found_;
  std::set<std::pair<const tensor::ExprNode*, const tensor::ExprNode*>> seen_;
  std::unordered_map<const tensor::ExprNode*, tensor::Expr> literals_;
};

void AddLiterals(const tensor::Expr& e, std::set<const tensor::ExprNode*>& seen,
                 std::vector<const tensor::ExprNode*>& literals) {
  if (!seen.insert(e.get()).second) return;
  if (IsLiteral(*e)) literals.push_back(e.get());
  for (const tensor::Expr& operand : e->operands) AddLiterals(operand, seen, literals);
}

}  // namespace

std::vector<Counterpart> Compare(const Graph& graph, const Graph& other) {
  return Comparison(graph, other).Run();
}

std::vector<const tensor::ExprNode*> LiteralsOf(const tensor::Expr& e) {
  std::set<const tensor::ExprNode*> seen;
  std::vector<const tensor::ExprNode*> literals;
  AddLiterals(e, seen, literals);
  return literals;
}

bool HasFewElements(const Value& value) {
  constexpr int64_t kFew = 8;
  return value.shape.size() <= 1 && value.ElementCount() >= 1 && value.ElementCount() <= kFew;
}

std::string Described(const Graph& graph, ValueId value) {
  const std::vector<int> producers = graph.Producers();
  const bool is_input = std::ranges::find(graph.inputs, value) != graph.inputs.end();
  const std::string& name =
      producers[value] < 0 ? graph.values[value].name : graph.nodes[producers[value]].stage.name;
  return fmt::format("{} '{}'",
                     producers[value] >= 0 ? "node"
                     : is_input            ? "input"
                                           : "constant",
                     base::SingleLine(name));
}

}  // namespace bayloom::graph
