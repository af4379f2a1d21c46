// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/open_number.h"

#include <algorithm>
#include <cmath>

#include "bayloom/tensor/scalar.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

std::optional<int64_t> AsInteger(double value) {
  constexpr double kExact = 0x1p53;
  const bool is_integer = std::trunc(value) == value && std::abs(value) < kExact;
  return is_integer ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
}

/// What the literal, or one divided by it, is in its type.
std::optional<int64_t> NumberOf(const Expr& literal, bool is_reciprocal) {
  if (literal->op == ExprOp::kInt) {
    return is_reciprocal ? std::nullopt : std::optional(literal->int_value);
  }
  const double value = literal->float_value;
  if (!is_reciprocal) return AsInteger(value);
  const std::optional<int64_t> divisor = AsInteger(std::round(1 / value));
  const bool is_exact = divisor && *divisor != 0 &&
                        tensor::RoundTo(literal->dtype, 1 / static_cast<double>(*divisor)) == value;
  return is_exact ? divisor : std::nullopt;
}

/// a + b, as a difference where b is one or negative.
Expr Sum(const Expr& a, const Expr& b) {
  if (b->op == ExprOp::kNegate) return a - b->operands[0];
  if (b->op == ExprOp::kSub && b->operands[0]->op == ExprOp::kInt) {
    return (a + b->operands[0]) - b->operands[1];
  }
  return a + b;
}

Expr Rebuilt(const Expr& e, std::vector<Expr> operands) {
  switch (e->op) {
    case ExprOp::kLoad:
      return tensor::Load(e->index, e->dtype, std::move(operands));
    case ExprOp::kSelect:
      return tensor::Select(operands[0], operands[1], operands[2]);
    case ExprOp::kCast:
      return tensor::Cast(e->dtype, operands[0]);
    case ExprOp::kAdd:
      return Sum(operands[0], operands[1]);
    default:
      return operands.size() == 1 ? tensor::Unary(e->op, operands[0])
                                  : tensor::Binary(e->op, operands[0], operands[1]);
  }
}

}  // namespace

std::optional<OpenNumber> FitNumber(LengthFit& fit, std::span<const Expr> literals) {
  if (literals[0]->dtype == tensor::DType::kBool) return std::nullopt;
  for (const bool is_reciprocal : {false, true}) {
    std::vector<int64_t> values;
    for (const Expr& literal : literals) {
      if (const auto number = NumberOf(literal, is_reciprocal)) values.push_back(*number);
    }
    if (values.size() < literals.size()) continue;
    if (const std::optional<Length> length = fit.Find(values)) {
      return OpenNumber{*length, is_reciprocal, literals[0]->dtype};
    }
  }
  return std::nullopt;
}

Expr ToExpr(const OpenNumber& number, SizeTable& sizes) {
  const Expr value = sizes.Expression(number.length, number.dtype);
  return number.is_reciprocal ? tensor::FloatLiteral(1, number.dtype) / value : value;
}

std::optional<Length> LengthOf(const Graph& graph, const Expr& e) {
  if (e->op == ExprOp::kSize) return graph.values[e->index].size;
  if (e->op == ExprOp::kInt) return Length(e->int_value);
  const bool is_sum = e->op == ExprOp::kAdd;
  if (!is_sum && e->op != ExprOp::kSub) return std::nullopt;
  const auto a = LengthOf(graph, e->operands[0]), b = LengthOf(graph, e->operands[1]);
  if (!a || !b) return std::nullopt;
  return is_sum ? *a + *b : *a - *b;
}

Expr ReplaceLiterals(const Expr& e,
                     const std::unordered_map<const tensor::ExprNode*, Expr>& replacements) {
  if (const auto found = replacements.find(e.get()); found != replacements.end()) {
    return found->second;
  }
  std::vector<Expr> operands;
  bool changed = false;
  for (const Expr& operand : e->operands) {
    operands.push_back(ReplaceLiterals(operand, replacements));
    changed |= operands.back().get() != operand.get();
  }
  return changed ? Rebuilt(e, std::move(operands)) : e;
}

}  // namespace bayloom::graph
