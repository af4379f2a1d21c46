// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/open_axis.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace bayloom::tensor {
namespace {

class BoundsOfIter {
 public:
  BoundsOfIter(const KnownBounds& known, const Stage& stage, int iter)
      : known_(known), iter_(iter), iter_count_(static_cast<int>(stage.iters.size())) {}

  /// The bound beyond which the value is not specified.
  Bound Unspecified(const Expr& e) const {
    if (e->op == ExprOp::kLoad) {
      const std::vector<Bound>& bounds = known_.of_buffer(e->index);
      for (size_t d = 0; d < bounds.size(); ++d) {
        if (!bounds[d].is_open()) continue;
        if (IsIter(e->operands[d])) return bounds[d];
        if (const Bound behind = Behind(e->operands[d], bounds[d]); behind.is_open()) return behind;
      }
      for (const Expr& index : e->operands) {
        if (const Bound reversed = Reversed(index); reversed.is_open()) return reversed;
      }
    }
    if (e->op == ExprOp::kSelect) {
      const Bound condition = Unspecified(e->operands[0]);
      if (condition.is_open()) return condition;
      if (IsAtFirst(e->operands[0])) return Unspecified(e->operands[2]);
      const Bound then = Unspecified(e->operands[1]);
      return then == Unspecified(e->operands[2]) ? then : Bound{};
    }
    for (const Expr& operand : e->operands) {
      const Bound bound = Unspecified(operand);
      if (bound.is_open()) return bound;
    }
    return {};
  }

  /// The bound beyond which the value is `neutral`.
  Bound Neutral(const Expr& e, const Expr& neutral) const {
    const auto is = [&](double value) {
      return StructurallyEqual(neutral, Literal(value, e->dtype));
    };
    if (e->op == ExprOp::kSelect && StructurallyEqual(e->operands[2], neutral)) {
      const Bound bound = False(e->operands[0]);
      return bound.is_open() ? bound : Neutral(e->operands[1], neutral);
    }
    if (e->op == ExprOp::kMul && is(0)) {
      const Bound first = Neutral(e->operands[0], Literal(0, e->dtype));
      return first == Neutral(e->operands[1], Literal(0, e->dtype)) ? first : Bound{};
    }
    if (e->op == ExprOp::kCast && is(0)) {
      return Neutral(e->operands[0], Literal(0, e->operands[0]->dtype));
    }
    return {};
  }

 private:
  bool IsIter(const Expr& e) const { return e->op == ExprOp::kIter && e->index == iter_; }

  /// Of an index that is the iterator less a size, as in a concatenation: the bound of the
  /// iterator, if the sum of that size and the dimension's is one.
  Bound Behind(const Expr& index, const Bound& dimension) const {
    const bool is_behind = index->op == ExprOp::kSub && IsIter(index->operands[0]);
    if (!is_behind || dimension.step != 1) return {};
    return {known_.size_of(index->operands[1] + SizeOf(dimension.size))};
  }

  /// Of an index that counts down from a size's last element to the first, and stays there: the
  /// size.
  Bound Reversed(const Expr& index) const {
    const bool stays = index->op == ExprOp::kMax && StructurallyEqual(index->operands[1], Expr(0));
    if (!stays) return {};
    const Expr& down = index->operands[0];
    if (down->op != ExprOp::kSub || !IsIter(down->operands[1])) return {};
    return {known_.size_of(down->operands[0] + Expr(1))};
  }

  /// Whether the condition is that the iterator is below a size: it does not hold at the end.
  bool IsAtFirst(const Expr& condition) const {
    return condition->op == ExprOp::kLess && IsIter(condition->operands[0]) &&
           known_.size_of(condition->operands[1]) >= 0;
  }

  /// The bound beyond which the condition does not hold.
  Bound False(const Expr& condition) const {
    if (condition->op == ExprOp::kAnd) {
      const Bound bound = False(condition->operands[0]);
      return bound.is_open() ? bound : False(condition->operands[1]);
    }
    if (condition->op != ExprOp::kLess) return {};
    const BufferId size = known_.size_of(condition->operands[1]);
    if (size < 0) return {};
    const std::optional<LinearForm> form = ToLinear(condition->operands[0], iter_count_);
    if (!form || form->coefficients[iter_] < 1 || form->constant < 0) return {};
    const bool counts_up = std::ranges::all_of(
        form->coefficients, [](int64_t coefficient) { return coefficient >= 0; });
    return counts_up ? Bound{size, form->coefficients[iter_]} : Bound{};
  }

  const KnownBounds& known_;
  const int iter_;
  const int iter_count_;
};

bool IsNumber(const Expr& e) { return e->op == ExprOp::kInt || e->op == ExprOp::kFloat; }

}  // namespace

Expr ReduceWithin(Reduction reduction, const Expr& value, int iter, Expr size, int64_t step) {
  if (reduction == Reduction::kSum && value->op == ExprOp::kMul) {
    return ReduceWithin(reduction, value->operands[0], iter, size, step) *
           ReduceWithin(reduction, value->operands[1], iter, size, step);
  }
  return Select(IterVar(iter) * Expr(step) < std::move(size), value,
                NeutralElement(reduction, value->dtype));
}

const Expr& WithoutMasks(const Expr& e, const std::vector<Iter>& iters) {
  if (e->op != ExprOp::kSelect || !IsNumber(e->operands[2])) return e;
  for (size_t i = 0; i < iters.size(); ++i) {
    const Bound& bound = iters[i].bound;
    if (iters[i].kind != IterKind::kReduction || !bound.is_open()) continue;
    const Expr within = IterVar(static_cast<int>(i)) * Expr(bound.step) < SizeOf(bound.size);
    if (StructurallyEqual(e->operands[0], within)) return WithoutMasks(e->operands[1], iters);
  }
  return e;
}

void InferBounds(const KnownBounds& known, Stage& stage) {
  for (size_t i = 0; i < stage.iters.size(); ++i) {
    Iter& iter = stage.iters[i];
    if (iter.bound.is_open()) continue;
    const BoundsOfIter bounds(known, stage, static_cast<int>(i));
    iter.bound =
        iter.kind == IterKind::kSpatial
            ? bounds.Unspecified(stage.value)
            : bounds.Neutral(stage.value, NeutralElement(stage.reduction, stage.value->dtype));
  }
}

}  // namespace bayloom::tensor
