// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>

#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

/// Whether the divisor is a root that is the same for a whole row of so many iterators: a standard
/// deviation. Divisions whose quotients are rounded to integers divide by scales.
bool IsRootOfRow(const Expr& divisor, const Node& node) {
  const int last = static_cast<int>(node.stage.iters.size()) - 1;
  return divisor->op == ExprOp::kSqrt && last >= 0 && node.stage.iters[last].extent > 1 &&
         !MentionsIter(divisor, last) && !LoadsOf(divisor).empty();
}

Expr WithInverses(const Expr& e, const Node& node) {
  if (e->operands.empty() || e->op == ExprOp::kLoad) return e;
  tensor::ExprNode rebuilt = *e;
  bool changed = false;
  for (Expr& operand : rebuilt.operands) {
    Expr inside = WithInverses(operand, node);
    changed = changed || inside.get() != operand.get();
    operand = std::move(inside);
  }
  if (e->op == ExprOp::kDiv && tensor::IsFloat(e->dtype) && IsRootOfRow(e->operands[1], node)) {
    const Expr& divisor = rebuilt.operands[1];
    return rebuilt.operands[0] * (tensor::Literal(1, e->dtype) / divisor);
  }
  return changed ? Expr(std::make_shared<const tensor::ExprNode>(std::move(rebuilt))) : e;
}

}  // namespace

void MultiplyByInverses(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.kind == NodeKind::kMap) node.stage.value = WithInverses(node.stage.value, node);
  }
}

}  // namespace bayloom::graph
