// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/guard.h"

namespace bayloom::plan {
namespace {

void AddConjunction(const tensor::Expr& e, const BlockAccesses& accesses,
                    std::vector<Guard>& guards) {
  if (e->op == tensor::ExprOp::kAnd) {
    AddConjunction(e->operands[0], accesses, guards);
    AddConjunction(e->operands[1], accesses, guards);
  } else if (auto guard = ToGuard(*e, accesses)) {
    guards.push_back(*std::move(guard));
  }
}

/// Adds conditions without which `e` is `neutral`.
void AddGuards(const tensor::Expr& e, const tensor::Expr& neutral, const BlockAccesses& accesses,
               std::vector<Guard>& guards) {
  const auto zero = [](const tensor::Expr& operand) { return tensor::Literal(0, operand->dtype); };
  if (e->op == tensor::ExprOp::kSelect && tensor::StructurallyEqual(e->operands[2], neutral)) {
    AddConjunction(e->operands[0], accesses, guards);
    AddGuards(e->operands[1], neutral, accesses, guards);
  } else if (e->op == tensor::ExprOp::kMul && tensor::StructurallyEqual(neutral, zero(e))) {
    for (const tensor::Expr& factor : e->operands)
      AddGuards(factor, zero(factor), accesses, guards);
  } else if (e->op == tensor::ExprOp::kCast && tensor::StructurallyEqual(neutral, zero(e))) {
    AddGuards(e->operands[0], zero(e->operands[0]), accesses, guards);
  }
}

}  // namespace

std::optional<Guard> ToGuard(const tensor::ExprNode& comparison, const BlockAccesses& accesses) {
  if (comparison.op != tensor::ExprOp::kLess && comparison.op != tensor::ExprOp::kLessEqual)
    return std::nullopt;
  const auto a = accesses.affine.find(comparison.operands[0].get());
  const auto b = accesses.affine.find(comparison.operands[1].get());
  if (a == accesses.affine.end() || b == accesses.affine.end()) return std::nullopt;
  Guard guard{&comparison, b->second};
  guard.slack.Add(a->second, -1);
  if (comparison.op == tensor::ExprOp::kLess) --guard.slack.constant;
  return guard;
}

std::vector<Guard> GuardsOf(const tensor::Block& block, const BlockAccesses& accesses) {
  std::vector<Guard> guards;
  AddGuards(block.value, tensor::NeutralElement(block.reduction, block.value->dtype), accesses,
            guards);
  return guards;
}

}  // namespace bayloom::plan
