// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/infer_bounds.h"

namespace bayloom::tensor {
namespace {

class BoundsOfIter {
 public:
  BoundsOfIter(const KnownBounds& known, int iter) : known_(known), iter_(iter) {}

  /// The size from which on the value is not specified, or -1.
  BufferId Unspecified(const Expr& e) const {
    if (e->op == ExprOp::kLoad) {
      const std::vector<BufferId>& bounds = known_.of_buffer(e->index);
      for (size_t d = 0; d < bounds.size(); ++d) {
        if (bounds[d] >= 0 && IsIter(e->operands[d])) return bounds[d];
      }
    }
    if (e->op == ExprOp::kSelect) {
      const BufferId condition = Unspecified(e->operands[0]);
      if (condition >= 0) return condition;
      const BufferId then = Unspecified(e->operands[1]);
      return then == Unspecified(e->operands[2]) ? then : -1;
    }
    for (const Expr& operand : e->operands) {
      const BufferId size = Unspecified(operand);
      if (size >= 0) return size;
    }
    return -1;
  }

  /// The size from which on the value is `neutral`, or -1.
  BufferId Neutral(const Expr& e, const Expr& neutral) const {
    const auto is = [&](double value) { return StructurallyEqual(neutral, Literal(value, e->dtype)); };
    if (e->op == ExprOp::kSelect && StructurallyEqual(e->operands[2], neutral)) {
      const BufferId size = False(e->operands[0]);
      return size >= 0 ? size : Neutral(e->operands[1], neutral);
    }
    if (e->op == ExprOp::kMul && is(0)) {
      const BufferId first = Neutral(e->operands[0], Literal(0, e->dtype));
      return first == Neutral(e->operands[1], Literal(0, e->dtype)) ? first : -1;
    }
    if (e->op == ExprOp::kCast && is(0)) {
      return Neutral(e->operands[0], Literal(0, e->operands[0]->dtype));
    }
    return -1;
  }

 private:
  bool IsIter(const Expr& e) const { return e->op == ExprOp::kIter && e->index == iter_; }

  /// The size from which on the condition does not hold, or -1.
  BufferId False(const Expr& condition) const {
    if (condition->op == ExprOp::kAnd) {
      const BufferId size = False(condition->operands[0]);
      return size >= 0 ? size : False(condition->operands[1]);
    }
    if (condition->op != ExprOp::kLess || !IsIter(condition->operands[0])) return -1;
    return known_.size_of(condition->operands[1]);
  }

  const KnownBounds& known_;
  const int iter_;
};

}  // namespace

void InferBounds(const KnownBounds& known, Stage& stage) {
  for (size_t i = 0; i < stage.iters.size(); ++i) {
    Iter& iter = stage.iters[i];
    if (iter.bound >= 0) continue;
    const BoundsOfIter bounds(known, static_cast<int>(i));
    iter.bound = iter.kind == IterKind::kSpatial
                     ? bounds.Unspecified(stage.value)
                     : bounds.Neutral(stage.value,
                                      NeutralElement(stage.reduction, stage.value->dtype));
  }
}

}  // namespace bayloom::tensor
