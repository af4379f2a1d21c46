// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/simplify.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "bayloom/tensor/scalar.h"

namespace bayloom::tensor {
namespace {

struct Bounds {
  int64_t min, max;
};

int64_t FloorQuotient(int64_t a, int64_t b) {
  return ApplyInt(ExprOp::kFloorDiv, DType::kInt64, a, b);
}

/// Bounds beyond this are as good as none; below it sums and products cannot overflow.
constexpr int64_t kHuge = int64_t{1} << 30;

std::optional<Bounds> Checked(Bounds bounds) {
  if (bounds.min < -kHuge || bounds.max > kHuge) return std::nullopt;
  return bounds;
}

/// constant + sum of coefficient * atom, where an atom is anything that is not a sum.
struct Sum {
  struct Term {
    Expr atom;
    int64_t coefficient;
  };
  int64_t constant = 0;
  std::vector<Term> terms;

  void Add(const Expr& atom, int64_t coefficient) {
    auto same = std::find_if(terms.begin(), terms.end(),
                             [&](const Term& term) { return StructurallyEqual(term.atom, atom); });
    if (same == terms.end()) {
      terms.push_back({atom, coefficient});
    } else if ((same->coefficient += coefficient) == 0) {
      terms.erase(same);
    }
  }

  void AddExpr(const Expr& e, int64_t scale) {
    switch (e->op) {
      case ExprOp::kInt:
        constant += scale * e->int_value;
        return;
      case ExprOp::kAdd:
      case ExprOp::kSub:
        AddExpr(e->operands[0], scale);
        return AddExpr(e->operands[1], e->op == ExprOp::kAdd ? scale : -scale);
      case ExprOp::kNegate:
        return AddExpr(e->operands[0], -scale);
      case ExprOp::kMul:
        if (e->operands[1]->op == ExprOp::kInt) {
          return AddExpr(e->operands[0], scale * e->operands[1]->int_value);
        }
        break;
      default:
        break;
    }
    Add(e, scale);
  }

  Expr ToExpr() const {
    Expr sum = 0;
    for (const Term& term : terms) {
      if (term.coefficient == -1) {
        sum = sum - term.atom;
      } else {
        sum = sum + term.atom * term.coefficient;
      }
    }
    return sum + constant;
  }
};

/// True if there is a quotient, remainder, minimum, maximum or order of indices to decide.
bool HasOpenQuestion(const Expr& e) {
  const bool decides = (e->op >= ExprOp::kDiv && e->op <= ExprOp::kMax) || e->op == ExprOp::kLess ||
                       e->op == ExprOp::kLessEqual;
  if (decides && e->operands[0]->dtype == DType::kInt64) return true;
  return std::any_of(e->operands.begin(), e->operands.end(), HasOpenQuestion);
}

class Simplifier {
 public:
  explicit Simplifier(const std::vector<Iter>& iters) : iters_(iters) {}

  Expr Run(const Expr& e) const {
    if (e->operands.empty()) return e;
    std::vector<Expr> operands;
    operands.reserve(e->operands.size());
    for (const Expr& operand : e->operands) operands.push_back(Run(operand));
    const bool indices = operands[0]->dtype == DType::kInt64;
    switch (e->op) {
      case ExprOp::kLoad:
        return Load(e->index, e->dtype, std::move(operands));
      case ExprOp::kSelect:
        return Select(operands[0], operands[1], operands[2]);
      case ExprOp::kCast:
        return Cast(e->dtype, operands[0]);
      case ExprOp::kNegate:
      case ExprOp::kAdd:
      case ExprOp::kSub:
      case ExprOp::kMul:
        return indices ? Normalized(Rebuilt(e, operands)) : Rebuilt(e, operands);
      case ExprOp::kFloorDiv:
      case ExprOp::kDiv:
      case ExprOp::kFloorMod:
      case ExprOp::kMod:
        return indices ? Divided(e->op, operands) : Rebuilt(e, operands);
      case ExprOp::kLess:
      case ExprOp::kLessEqual:
      case ExprOp::kMin:
      case ExprOp::kMax:
        return indices ? Compared(e->op, operands) : Rebuilt(e, operands);
      default:
        return Rebuilt(e, operands);
    }
  }

 private:
  static Expr Rebuilt(const Expr& e, const std::vector<Expr>& operands) {
    return operands.size() == 1 ? Unary(e->op, operands[0])
                                : Binary(e->op, operands[0], operands[1]);
  }

  std::optional<Bounds> BoundsOf(const Sum& sum) const {
    Bounds total{sum.constant, sum.constant};
    for (const Sum::Term& term : sum.terms) {
      const std::optional<Bounds> atom = BoundsOf(term.atom);
      if (!atom || std::abs(term.coefficient) > kHuge) return std::nullopt;
      const int64_t a = atom->min * term.coefficient, b = atom->max * term.coefficient;
      total.min += std::min(a, b);
      total.max += std::max(a, b);
      if (!Checked(total)) return std::nullopt;
    }
    return Checked(total);
  }

  std::optional<Bounds> BoundsOf(const Expr& e) const {
    if (e->dtype != DType::kInt64) return std::nullopt;
    switch (e->op) {
      case ExprOp::kIter:
        if (static_cast<size_t>(e->index) >= iters_.size()) return std::nullopt;
        return Checked({0, iters_[e->index].extent - 1});
      case ExprOp::kMul:
        if (e->operands[1]->op != ExprOp::kInt) return std::nullopt;
        [[fallthrough]];
      case ExprOp::kInt:
      case ExprOp::kAdd:
      case ExprOp::kSub:
      case ExprOp::kNegate: {
        Sum sum;
        sum.AddExpr(e, 1);
        return BoundsOf(sum);
      }
      case ExprOp::kFloorDiv:
      case ExprOp::kFloorMod: {
        const Expr& divisor = e->operands[1];
        if (divisor->op != ExprOp::kInt || divisor->int_value <= 0) return std::nullopt;
        const int64_t by = divisor->int_value;
        if (e->op == ExprOp::kFloorMod) return Checked({0, by - 1});
        const std::optional<Bounds> of = BoundsOf(e->operands[0]);
        if (!of) return std::nullopt;
        return Bounds{FloorQuotient(of->min, by), FloorQuotient(of->max, by)};
      }
      case ExprOp::kMin:
      case ExprOp::kMax: {
        const std::optional<Bounds> a = BoundsOf(e->operands[0]), b = BoundsOf(e->operands[1]);
        if (!a || !b) return std::nullopt;
        if (e->op == ExprOp::kMin)
          return Bounds{std::min(a->min, b->min), std::min(a->max, b->max)};
        return Bounds{std::max(a->min, b->min), std::max(a->max, b->max)};
      }
      default:
        return std::nullopt;
    }
  }

  /// Puts x // c * c + x % c together again.
  Expr Normalized(const Expr& e) const {
    Sum sum;
    sum.AddExpr(e, 1);
    bool changed = false;
    for (size_t m = 0; m < sum.terms.size(); ++m) {
      const Sum::Term remainder = sum.terms[m];
      if (remainder.atom->op != ExprOp::kFloorMod) continue;
      const Expr of = remainder.atom->operands[0], by = remainder.atom->operands[1];
      if (by->op != ExprOp::kInt) continue;
      const Expr quotient = FloorDiv(of, by);
      const auto found = std::find_if(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
        return term.coefficient == remainder.coefficient * by->int_value &&
               StructurallyEqual(term.atom, quotient);
      });
      if (found == sum.terms.end()) continue;
      sum.Add(remainder.atom, -remainder.coefficient);
      sum.Add(quotient, -remainder.coefficient * by->int_value);
      sum.AddExpr(of, remainder.coefficient);
      changed = true;
      m = static_cast<size_t>(-1);  // start over: terms have moved
    }
    const bool cancelled = CountAtoms(e) != sum.terms.size();
    return changed || cancelled ? sum.ToExpr() : e;
  }

  static size_t CountAtoms(const Expr& e) {
    if (e->op == ExprOp::kInt) return 0;
    if (e->op == ExprOp::kAdd || e->op == ExprOp::kSub) {
      return CountAtoms(e->operands[0]) + CountAtoms(e->operands[1]);
    }
    if (e->op == ExprOp::kNegate || (e->op == ExprOp::kMul && e->operands[1]->op == ExprOp::kInt)) {
      return CountAtoms(e->operands[0]);
    }
    return 1;
  }

  /// Quotient or remainder by a positive literal: multiples of it leave the dividend, common
  /// factors leave both.
  Expr Divided(ExprOp op, const std::vector<Expr>& operands) const {
    const Expr& divisor = operands[1];
    const Expr as_is = Binary(op, operands[0], divisor);
    if (divisor->op != ExprOp::kInt || divisor->int_value <= 0) return as_is;
    const int64_t by = divisor->int_value;
    const bool truncates = op == ExprOp::kDiv || op == ExprOp::kMod;
    const bool wants_quotient = op == ExprOp::kDiv || op == ExprOp::kFloorDiv;
    Sum dividend;
    dividend.AddExpr(operands[0], 1);
    if (truncates) {  // the same as rounding down where nothing is negative
      const std::optional<Bounds> bounds = BoundsOf(dividend);
      if (!bounds || bounds->min < 0) return as_is;
    }
    Sum quotient, rest;
    for (const Sum::Term& term : dividend.terms) {
      const bool whole = term.coefficient % by == 0;
      (whole ? quotient : rest).Add(term.atom, whole ? term.coefficient / by : term.coefficient);
    }
    quotient.constant = FloorQuotient(dividend.constant, by);
    rest.constant = dividend.constant - quotient.constant * by;
    if (const std::optional<Bounds> bounds = BoundsOf(rest)) {
      const int64_t periods = FloorQuotient(bounds->min, by);
      if (periods == FloorQuotient(bounds->max, by)) {
        quotient.constant += periods;
        rest.constant -= periods * by;
        return wants_quotient ? quotient.ToExpr() : rest.ToExpr();
      }
    }
    return wants_quotient ? quotient.ToExpr() + FlooredQuotient(rest, by)
                          : FloorMod(rest.ToExpr(), by);
  }

  Expr FlooredQuotient(Sum rest, int64_t by) const {
    int64_t common = by;
    for (const Sum::Term& term : rest.terms) common = std::gcd(common, term.coefficient);
    for (Sum::Term& term : rest.terms) term.coefficient /= common;
    rest.constant = FloorQuotient(rest.constant, common);
    by /= common;
    const Expr of = rest.ToExpr();
    const bool nested = of->op == ExprOp::kFloorDiv && of->operands[1]->op == ExprOp::kInt &&
                        of->operands[1]->int_value > 0;
    if (nested) return FloorDiv(of->operands[0], of->operands[1]->int_value * by);
    return FloorDiv(of, by);
  }

  /// Orders that are certain from the difference of the operands.
  Expr Compared(ExprOp op, const std::vector<Expr>& operands) const {
    Sum difference;
    difference.AddExpr(operands[0], 1);
    difference.AddExpr(operands[1], -1);
    const std::optional<Bounds> bounds = BoundsOf(difference);
    const bool strict = op == ExprOp::kLess;
    if (bounds && (strict ? bounds->max < 0 : bounds->max <= 0)) {
      return op == ExprOp::kMin   ? operands[0]
             : op == ExprOp::kMax ? operands[1]
                                  : BoolLiteral(true);
    }
    if (bounds && (op == ExprOp::kLessEqual ? bounds->min > 0 : bounds->min >= 0)) {
      return op == ExprOp::kMin   ? operands[1]
             : op == ExprOp::kMax ? operands[0]
                                  : BoolLiteral(false);
    }
    return Binary(op, operands[0], operands[1]);
  }

  const std::vector<Iter>& iters_;
};

}  // namespace

Expr Simplify(const Expr& e, const std::vector<Iter>& iters) {
  return HasOpenQuestion(e) ? Simplifier(iters).Run(e) : e;
}

}  // namespace bayloom::tensor
