// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/expr.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "bayloom/tensor/scalar.h"

namespace bayloom::tensor {
namespace {

Expr Make(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

bool IsLiteral(const Expr& e) { return e->op == ExprOp::kInt || e->op == ExprOp::kFloat; }

bool IsZero(const Expr& e) {
  return (e->op == ExprOp::kInt && e->int_value == 0) ||
         (e->op == ExprOp::kFloat && e->float_value == 0);
}

bool IsOne(const Expr& e) {
  return (e->op == ExprOp::kInt && e->int_value == 1) ||
         (e->op == ExprOp::kFloat && e->float_value == 1);
}

bool IsComparison(ExprOp op) { return op >= ExprOp::kLess && op <= ExprOp::kEqual; }
bool IsBoolean(ExprOp op) { return op >= ExprOp::kAnd && op <= ExprOp::kXor; }
bool IsCommutative(ExprOp op) {
  return op == ExprOp::kAdd || op == ExprOp::kMul || op == ExprOp::kMin || op == ExprOp::kMax;
}
bool IsDivision(ExprOp op) { return op >= ExprOp::kDiv && op <= ExprOp::kMod; }

[[noreturn]] void Mismatch(const std::string& what, DType a) {
  throw std::invalid_argument(what + " cannot take " + ToString(a));
}

/// An integer literal (not a bool) may stand for the same number of another numeric type.
bool Adapts(const Expr& e, DType dtype) {
  return e->op == ExprOp::kInt && IsInteger(e->dtype) && (IsInteger(dtype) || IsFloat(dtype));
}

Expr Adapted(const Expr& literal, DType dtype) {
  if (IsFloat(dtype)) return FloatLiteral(IntToFloat(literal->dtype, literal->int_value), dtype);
  return IntLiteral(literal->int_value, dtype);
}

/// Brings two operands to one type: an int64 literal gives way first.
void Unify(Expr& a, Expr& b) {
  if (a->dtype == b->dtype) return;
  const bool prefer_b = b->dtype == DType::kInt64 || !Adapts(a, b->dtype);
  if (prefer_b && Adapts(b, a->dtype)) {
    b = Adapted(b, a->dtype);
  } else if (Adapts(a, b->dtype)) {
    a = Adapted(a, b->dtype);
  } else {
    throw std::invalid_argument("operands are of different types, " + ToString(a->dtype) + " and " +
                                ToString(b->dtype));
  }
}

void CheckBinary(ExprOp op, DType dtype) {
  const bool integers_only = op == ExprOp::kFloorDiv || op == ExprOp::kFloorMod ||
                             op == ExprOp::kShiftLeft || op == ExprOp::kShiftRight;
  if (IsBoolean(op)           ? IsFloat(dtype)
      : dtype == DType::kBool ? op != ExprOp::kEqual
                              : integers_only && IsFloat(dtype)) {
    Mismatch("binary operation", dtype);
  }
}

Expr FoldLiterals(ExprOp op, const Expr& a, const Expr& b) {
  const DType dtype = a->dtype;
  if (IsFloat(dtype)) {
    if (IsComparison(op)) return BoolLiteral(CompareFloat(op, a->float_value, b->float_value));
    return FloatLiteral(ApplyFloat(op, a->float_value, b->float_value), dtype);
  }
  if (IsComparison(op)) return BoolLiteral(CompareInt(op, dtype, a->int_value, b->int_value));
  return IntLiteral(ApplyInt(op, dtype, a->int_value, b->int_value), dtype);
}

/// The result when one operand is a neutral or absorbing literal; undefined otherwise.
Expr DropNeutral(ExprOp op, const Expr& a, const Expr& b) {
  const bool integer = !IsFloat(a->dtype), logical = a->dtype == DType::kBool;
  switch (op) {
    case ExprOp::kAdd:
      if (IsZero(a)) return b;
      if (IsZero(b)) return a;
      break;
    case ExprOp::kSub:
    case ExprOp::kShiftLeft:
    case ExprOp::kShiftRight:
      if (IsZero(b)) return a;
      break;
    case ExprOp::kMul:
      if (IsOne(a) || (integer && IsZero(b))) return b;
      if (IsOne(b) || (integer && IsZero(a))) return a;
      break;
    case ExprOp::kDiv:
    case ExprOp::kFloorDiv:
    case ExprOp::kPow:
      if (IsOne(b)) return a;
      break;
    case ExprOp::kMod:
    case ExprOp::kFloorMod:
      if (integer && IsOne(b)) return IntLiteral(0, a->dtype);
      break;
    case ExprOp::kAnd:
      if ((logical && IsOne(a)) || IsZero(b)) return b;
      if ((logical && IsOne(b)) || IsZero(a)) return a;
      break;
    case ExprOp::kOr:
      if (IsZero(a) || (logical && IsOne(b))) return b;
      if (IsZero(b) || (logical && IsOne(a))) return a;
      break;
    case ExprOp::kXor:
      if (IsZero(a)) return b;
      if (IsZero(b)) return a;
      break;
    default:
      break;
  }
  return {};
}

Expr Rebuild(const ExprNode& node, std::vector<Expr> operands) {
  switch (node.op) {
    case ExprOp::kInt:
    case ExprOp::kFloat:
    case ExprOp::kIter:
      break;
    case ExprOp::kLoad:
      return Load(node.index, node.dtype, std::move(operands));
    case ExprOp::kSelect:
      return Select(operands[0], operands[1], operands[2]);
    case ExprOp::kCast:
      return Cast(node.dtype, operands[0]);
    case ExprOp::kCall:
      return Make({ExprOp::kCall, node.dtype, node.index, 0, 0, std::move(operands)});
    default:
      return operands.size() == 1 ? Unary(node.op, operands[0])
                                  : Binary(node.op, operands[0], operands[1]);
  }
  return Make(node);
}

/// Adds scale * e to the form; false when e is not linear.
bool AddLinear(const Expr& e, int64_t scale, LinearForm& form) {
  if (e->dtype != DType::kInt64) return false;
  switch (e->op) {
    case ExprOp::kInt:
      form.constant += scale * e->int_value;
      return true;
    case ExprOp::kIter:
      if (static_cast<size_t>(e->index) >= form.coefficients.size()) return false;
      form.coefficients[e->index] += scale;
      return true;
    case ExprOp::kAdd:
      return AddLinear(e->operands[0], scale, form) && AddLinear(e->operands[1], scale, form);
    case ExprOp::kSub:
      return AddLinear(e->operands[0], scale, form) && AddLinear(e->operands[1], -scale, form);
    case ExprOp::kNegate:
      return AddLinear(e->operands[0], -scale, form);
    case ExprOp::kMul:
      if (e->operands[1]->op != ExprOp::kInt) return false;
      return AddLinear(e->operands[0], scale * e->operands[1]->int_value, form);
    default:
      return false;
  }
}

}  // namespace

Expr::Expr(int64_t value) : Expr(IntLiteral(value)) {}

Expr IntLiteral(int64_t value, DType dtype) {
  if (IsFloat(dtype)) Mismatch("an integer literal", dtype);
  ExprNode node{ExprOp::kInt, dtype};
  node.int_value = WrapTo(dtype, value);
  return Make(std::move(node));
}

Expr FloatLiteral(double value, DType dtype) {
  if (!IsFloat(dtype)) Mismatch("a float literal", dtype);
  ExprNode node{ExprOp::kFloat, dtype};
  node.float_value = RoundTo(dtype, value);
  return Make(std::move(node));
}

Expr BoolLiteral(bool value) { return IntLiteral(value, DType::kBool); }

Expr Literal(double value, DType dtype) {
  if (IsFloat(dtype)) return FloatLiteral(value, dtype);
  return IntLiteral(FloatToInt(dtype, value), dtype);
}

Expr IterVar(int position) { return Make({ExprOp::kIter, DType::kInt64, position}); }

Expr SizeOf(BufferId size) { return Make({ExprOp::kSize, DType::kInt64, size}); }

Expr Load(BufferId buffer, DType dtype, std::vector<Expr> indices) {
  for (const Expr& index : indices) {
    if (!IsInteger(index->dtype)) Mismatch("an index", index->dtype);
  }
  return Make({ExprOp::kLoad, dtype, buffer, 0, 0, std::move(indices)});
}

Expr Unary(ExprOp op, Expr a) {
  const DType dtype = a->dtype;
  const bool predicate = op == ExprOp::kIsNan || op == ExprOp::kIsInf;
  const bool any_number = op == ExprOp::kNegate || op == ExprOp::kAbs || op == ExprOp::kSign;
  const bool legal = op == ExprOp::kNot ? dtype == DType::kBool
                     : any_number       ? dtype != DType::kBool
                                        : IsFloat(dtype);
  if (!legal) Mismatch("unary operation", dtype);
  if (a->op == ExprOp::kFloat) {
    return predicate ? BoolLiteral(CompareFloat(op, a->float_value))
                     : FloatLiteral(ApplyFloat(op, a->float_value), dtype);
  }
  if (a->op == ExprOp::kInt) return IntLiteral(ApplyInt(op, dtype, a->int_value), dtype);
  const bool involution = op == ExprOp::kNot || op == ExprOp::kNegate;
  if (involution && a->op == op) return a->operands[0];
  return Make({op, predicate ? DType::kBool : dtype, -1, 0, 0, {std::move(a)}});
}

Expr Binary(ExprOp op, Expr a, Expr b) {
  Unify(a, b);
  const DType dtype = a->dtype;
  CheckBinary(op, dtype);
  if (IsLiteral(a) && IsLiteral(b) && !(IsDivision(op) && !IsFloat(dtype) && IsZero(b)) &&
      !(op == ExprOp::kPow && !IsFloat(dtype) && b->int_value < 0)) {
    return FoldLiterals(op, a, b);
  }
  if (Expr folded = DropNeutral(op, a, b); folded.defined()) return folded;
  if (IsInteger(dtype)) {
    // One form for integer sums: the literal is added last, in whichever order it was written.
    if (op == ExprOp::kSub && b->op == ExprOp::kInt && !IsUnsigned(dtype)) {
      return Binary(ExprOp::kAdd, std::move(a), Unary(ExprOp::kNegate, b));
    }
    if (IsCommutative(op) && a->op == ExprOp::kInt) std::swap(a, b);
    const bool associative = op == ExprOp::kAdd || op == ExprOp::kMul;
    if (associative && b->op == ExprOp::kInt && a->op == op && a->operands[1]->op == ExprOp::kInt) {
      return Binary(op, a->operands[0], FoldLiterals(op, a->operands[1], b));
    }
  }
  return Make(
      {op, IsComparison(op) ? DType::kBool : dtype, -1, 0, 0, {std::move(a), std::move(b)}});
}

Expr Select(Expr condition, Expr then, Expr otherwise) {
  if (condition->dtype != DType::kBool) Mismatch("a condition", condition->dtype);
  Unify(then, otherwise);
  if (condition->op == ExprOp::kInt) return condition->int_value ? then : otherwise;
  if (then.get() == otherwise.get()) return then;
  const DType dtype = then->dtype;
  return Make({ExprOp::kSelect,
               dtype,
               -1,
               0,
               0,
               {std::move(condition), std::move(then), std::move(otherwise)}});
}

Expr Cast(DType dtype, Expr a) {
  if (a->dtype == dtype) return a;
  if (a->op == ExprOp::kFloat) return Literal(a->float_value, dtype);
  if (a->op == ExprOp::kInt) {
    return IsFloat(dtype) ? FloatLiteral(IntToFloat(a->dtype, a->int_value), dtype)
                          : IntLiteral(a->int_value, dtype);
  }
  return Make({ExprOp::kCast, dtype, -1, 0, 0, {std::move(a)}});
}

Expr operator+(Expr a, Expr b) { return Binary(ExprOp::kAdd, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return Binary(ExprOp::kSub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return Binary(ExprOp::kMul, std::move(a), std::move(b)); }
Expr operator/(Expr a, Expr b) { return Binary(ExprOp::kDiv, std::move(a), std::move(b)); }
Expr operator-(Expr a) { return Unary(ExprOp::kNegate, std::move(a)); }
Expr operator<(Expr a, Expr b) { return Binary(ExprOp::kLess, std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return Binary(ExprOp::kLessEqual, std::move(a), std::move(b)); }
Expr operator&&(Expr a, Expr b) { return Binary(ExprOp::kAnd, std::move(a), std::move(b)); }
Expr operator||(Expr a, Expr b) { return Binary(ExprOp::kOr, std::move(a), std::move(b)); }
Expr operator!(Expr a) { return Unary(ExprOp::kNot, std::move(a)); }
Expr FloorDiv(Expr a, Expr b) { return Binary(ExprOp::kFloorDiv, std::move(a), std::move(b)); }
Expr FloorMod(Expr a, Expr b) { return Binary(ExprOp::kFloorMod, std::move(a), std::move(b)); }
Expr Min(Expr a, Expr b) { return Binary(ExprOp::kMin, std::move(a), std::move(b)); }
Expr Max(Expr a, Expr b) { return Binary(ExprOp::kMax, std::move(a), std::move(b)); }
Expr Equal(Expr a, Expr b) { return Binary(ExprOp::kEqual, std::move(a), std::move(b)); }

bool IsIntLiteral(const Expr& e, int64_t value) {
  return e->op == ExprOp::kInt && e->int_value == value;
}

bool StructurallyEqual(const Expr& a, const Expr& b) {
  if (a.get() == b.get()) return true;
  if (!a.defined() || !b.defined()) return false;
  // 0 and -0 are not the same, two that are no numbers are.
  const bool same_float =
      std::bit_cast<uint64_t>(a->float_value) == std::bit_cast<uint64_t>(b->float_value) ||
      (std::isnan(a->float_value) && std::isnan(b->float_value));
  if (a->op != b->op || a->dtype != b->dtype || a->index != b->index ||
      a->int_value != b->int_value || !same_float || a->operands.size() != b->operands.size()) {
    return false;
  }
  for (size_t i = 0; i < a->operands.size(); ++i) {
    if (!StructurallyEqual(a->operands[i], b->operands[i])) return false;
  }
  return true;
}

Expr Rewrite(const Expr& e, const std::function<std::optional<Expr>(const Expr&)>& leaf) {
  Expr result = e;
  if (!e->operands.empty()) {
    std::vector<Expr> operands;
    operands.reserve(e->operands.size());
    bool changed = false;
    for (const Expr& operand : e->operands) {
      operands.push_back(Rewrite(operand, leaf));
      changed |= operands.back().get() != operand.get();
    }
    if (changed) result = Rebuild(*e, std::move(operands));
  }
  // What rebuilding has simplified to a leaf was one before and is rewritten already.
  if (e->op == ExprOp::kIter || e->op == ExprOp::kLoad || e->op == ExprOp::kSize) {
    if (std::optional<Expr> replaced = leaf(result)) return *std::move(replaced);
  }
  return result;
}

Expr SubstituteIters(const Expr& e, const std::vector<Expr>& values) {
  return Rewrite(e, [&](const Expr& node) -> std::optional<Expr> {
    if (node->op != ExprOp::kIter) return std::nullopt;
    return values.at(node->index);
  });
}

void Visit(const Expr& e, const std::function<void(const Expr&)>& visit) {
  visit(e);
  for (const Expr& operand : e->operands) Visit(operand, visit);
}

bool Loads(const Expr& e, BufferId buffer) {
  if (e->op == ExprOp::kLoad && e->index == buffer) return true;
  for (const Expr& operand : e->operands) {
    if (Loads(operand, buffer)) return true;
  }
  return false;
}

std::optional<LinearForm> ToLinear(const Expr& e, int iter_count) {
  LinearForm form;
  form.coefficients.resize(iter_count);
  if (!AddLinear(e, 1, form)) return std::nullopt;
  return form;
}

}  // namespace bayloom::tensor
