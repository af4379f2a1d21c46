// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/call_kinds.h"

#include <algorithm>

#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

bool AddsUpProducts(const Node& node) {
  return IsAnchor(node) && node.stage.reduction == tensor::Reduction::kSum &&
         node.stage.value->op == tensor::ExprOp::kMul;
}

/// An element of some tensor or a literal, by conditions that may be any.
bool IsElement(const tensor::Expr& value) {
  switch (value->op) {
    case tensor::ExprOp::kLoad:
    case tensor::ExprOp::kInt:
    case tensor::ExprOp::kFloat:
      return true;
    case tensor::ExprOp::kCast:
      return IsElement(value->operands[0]);
    case tensor::ExprOp::kSelect:
      return LoadsOf(value->operands[0]).empty() && IsElement(value->operands[1]) &&
             IsElement(value->operands[2]);
    default:
      return false;
  }
}

bool MovesElements(const Node& node) {
  return node.kind != NodeKind::kCall && node.stage.reduction == tensor::Reduction::kNone &&
         IsElement(node.stage.value);
}

}  // namespace

CallKind KindOf(const Graph& graph, const TaskCall& call) {
  const auto node_at = [&](int n) -> const Node& { return graph.nodes[n]; };
  if (std::ranges::any_of(call.nodes, AddsUpProducts, node_at)) return CallKind::kProduct;
  const bool moves = std::ranges::all_of(call.nodes, MovesElements, node_at);
  return moves ? CallKind::kMove : CallKind::kOther;
}

}  // namespace bayloom::graph
