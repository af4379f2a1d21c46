#include "bayloom/codegen/emit/guard.h"

namespace bayloom {
namespace {

void AddConjunction(const Expr& e, const BlockAccesses& accesses, std::vector<Guard>& guards) {
  if (e->op == ExprOp::kAnd) {
    AddConjunction(e->operands[0], accesses, guards);
    AddConjunction(e->operands[1], accesses, guards);
  } else if (auto guard = ToGuard(*e, accesses)) {
    guards.push_back(*std::move(guard));
  }
}

/// Adds conditions without which `e` is `neutral`.
void AddGuards(const Expr& e, const Expr& neutral, const BlockAccesses& accesses,
               std::vector<Guard>& guards) {
  const auto zero = [](const Expr& operand) { return Literal(0, operand->dtype); };
  if (e->op == ExprOp::kSelect && StructurallyEqual(e->operands[2], neutral)) {
    AddConjunction(e->operands[0], accesses, guards);
    AddGuards(e->operands[1], neutral, accesses, guards);
  } else if (e->op == ExprOp::kMul && StructurallyEqual(neutral, zero(e))) {
    for (const Expr& factor : e->operands) AddGuards(factor, zero(factor), accesses, guards);
  } else if (e->op == ExprOp::kCast && StructurallyEqual(neutral, zero(e))) {
    AddGuards(e->operands[0], zero(e->operands[0]), accesses, guards);
  }
}

}  // namespace

std::optional<Guard> ToGuard(const ExprNode& comparison, const BlockAccesses& accesses) {
  if (comparison.op != ExprOp::kLess && comparison.op != ExprOp::kLessEqual) return std::nullopt;
  const auto a = accesses.affine.find(comparison.operands[0].get());
  const auto b = accesses.affine.find(comparison.operands[1].get());
  if (a == accesses.affine.end() || b == accesses.affine.end()) return std::nullopt;
  Guard guard{&comparison, b->second};
  guard.slack.Add(a->second, -1);
  if (comparison.op == ExprOp::kLess) --guard.slack.constant;
  return guard;
}

std::vector<Guard> GuardsOf(const Block& block, const BlockAccesses& accesses) {
  std::vector<Guard> guards;
  AddGuards(block.value, NeutralElement(block.reduction, block.value->dtype), accesses, guards);
  return guards;
}

}  // namespace bayloom
