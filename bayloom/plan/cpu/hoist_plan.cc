// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/hoist_plan.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace bayloom::plan {
namespace {

using Plan = std::map<tensor::LoopId, std::vector<HoistedValue>>;

class BlockHoister {
 public:
  BlockHoister(const tensor::Program& program, tensor::BlockId id, Plan& plan)
      : program_(program),
        id_(id),
        block_(program.blocks[id]),
        loops_(program.LoopsAround(tensor::NodeRef::Block(id))),
        plan_(plan) {}

  /// Takes the largest parts of the expression. What is behind a condition may not be computable
  /// where that does not hold.
  void Visit(const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kSelect || e->op == tensor::ExprOp::kLoad) return;
    if (const tensor::LoopId loop = IsArithmetic(e) ? OutermostWithout(e) : -1; loop >= 0) {
      plan_[loop].push_back({id_, e});
      return;
    }
    for (const tensor::Expr& operand : e->operands) Visit(operand);
  }

 private:
  static bool IsArithmetic(const tensor::Expr& e) {
    bool loads = false, selects = false;
    tensor::Visit(e, [&](const tensor::Expr& part) {
      loads = loads || part->op == tensor::ExprOp::kLoad;
      selects = selects || part->op == tensor::ExprOp::kSelect;
    });
    return tensor::IsFloat(e->dtype) && !e->operands.empty() && loads && !selects;
  }

  /// The outermost loop of those directly around in which the expression stays the same; -1 if it
  /// changes in the innermost one.
  tensor::LoopId OutermostWithout(const tensor::Expr& e) const {
    std::set<tensor::DigitId> digits;
    std::set<tensor::BufferId> buffers;
    tensor::Visit(e, [&](const tensor::Expr& part) {
      if (part->op == tensor::ExprOp::kLoad) buffers.insert(part->index);
      if (part->op != tensor::ExprOp::kIter) return;
      for (const tensor::Affine::Term& term : block_.bindings[part->index].terms) {
        if (program_.digit_extents[term.digit] > 1) digits.insert(term.digit);
      }
    });
    tensor::LoopId outermost = -1;
    for (tensor::LoopId loop : std::views::reverse(loops_)) {
      if (program_.loops[loop].kind == tensor::LoopKind::kParallel) break;
      const bool changes =
          std::ranges::any_of(program_.loops[loop].digits,
                              [&](tensor::DigitId digit) { return digits.contains(digit); }) ||
          std::ranges::any_of(program_.BlocksBelow(tensor::NodeRef::Loop(loop)),
                              [&](tensor::BlockId other) {
                                return buffers.contains(program_.blocks[other].output);
                              });
      if (changes) break;
      outermost = loop;
    }
    return outermost;
  }

  const tensor::Program& program_;
  const tensor::BlockId id_;
  const tensor::Block& block_;
  const std::vector<tensor::LoopId> loops_;  ///< outermost first
  Plan& plan_;
};

}  // namespace

Plan PlanHoisting(const tensor::Program& program) {
  Plan plan;
  for (tensor::BlockId id : program.BlocksInOrder()) {
    const tensor::Block& block = program.blocks[id];
    if (block.kind == tensor::BlockKind::kPlain) BlockHoister(program, id, plan).Visit(block.value);
  }
  return plan;
}

}  // namespace bayloom::plan
