// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/async_copy.h"

#include <algorithm>

namespace bayloom::tensor {
namespace {

bool IsZeroLiteral(const Expr& e) {
  return (e->op == ExprOp::kInt && e->int_value == 0) ||
         (e->op == ExprOp::kFloat && e->float_value == 0);
}

/// iterator < limit, where both are multiples of the number of lanes but for the lane itself.
bool IsOnOneSide(const Block& block, const Expr& condition, DigitId lane, int64_t count) {
  if (condition->op != ExprOp::kLess || condition->operands[0]->op != ExprOp::kIter ||
      condition->operands[1]->op != ExprOp::kInt) {
    return false;
  }
  const Affine& binding = block.bindings[static_cast<size_t>(condition->operands[0]->index)];
  const bool aligned = std::ranges::all_of(binding.terms, [&](const Affine::Term& term) {
    return term.digit == lane ? term.coefficient == 1 : term.coefficient % count == 0;
  });
  return aligned && binding.constant % count == 0 && condition->operands[1]->int_value % count == 0;
}

}  // namespace

std::optional<AsyncCopy> MatchCopy(const Program& program, const Block& block) {
  if (block.kind != BlockKind::kPlain) return std::nullopt;
  Expr value = block.value, condition;
  while (value->op == ExprOp::kSelect) {
    if (!IsZeroLiteral(value->operands[2])) return std::nullopt;
    const Expr& own = value->operands[0];
    condition = condition.defined() ? condition && own : own;
    const Expr inner = value->operands[1];
    value = inner;
  }
  if (value->op != ExprOp::kLoad) return std::nullopt;
  if (program.buffers[value->index].dtype != program.buffers[block.output].dtype) {
    return std::nullopt;
  }
  return AsyncCopy{value.get(), condition};
}

bool VariesOver(const Block& block, const Expr& condition, std::span<const DigitId> lanes,
                int64_t count) {
  if (condition->op == ExprOp::kAnd) {
    return VariesOver(block, condition->operands[0], lanes, count) ||
           VariesOver(block, condition->operands[1], lanes, count);
  }
  if (lanes.size() == 1 && IsOnOneSide(block, condition, lanes[0], count)) return false;
  bool varies = false;
  Visit(condition, [&](const Expr& e) {
    if (e->op != ExprOp::kIter) return;
    const Affine& binding = block.bindings[static_cast<size_t>(e->index)];
    for (const DigitId lane : lanes) varies |= binding.CoefficientOf(lane) != 0;
  });
  return varies;
}

}  // namespace bayloom::tensor
