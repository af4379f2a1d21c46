// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Determinants by elimination.
#include <fmt/format.h>

#include "bayloom/graph/internal/operators/helpers.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

constexpr int64_t kMaxOrder = 64;

/// One step of Gaussian elimination on [matrices, m, m] with partial pivoting: the pivot's row and
/// column are gone from `rest`, and `pivot` is signed by the exchange of rows.
struct Elimination {
  tensor::Tensor pivot, rest;
};

Elimination Eliminate(OperatorContext& context, const tensor::Tensor& x) {
  GraphBuilder& b = context.builder();
  const int64_t count = x.shape()[0], m = x.shape()[1];
  const tensor::Tensor column = b.Map("det.column", {count, m}, [&](const Exprs& s) {
    return tensor::Unary(ExprOp::kAbs, x(s[0], s[1], 0));
  });
  const tensor::Tensor found = ArgExtreme(context, column, 1, true, false);
  const tensor::Tensor row =
      b.Map("det.row", {count}, [&](const Exprs& s) { return WrappedIndex(found.At(s), m); });
  const tensor::Tensor pivot = b.Map("det.pivot", {count}, [&](const Exprs& s) {
    const Expr value = x(s[0], row(s[0]), 0);
    return tensor::Select(tensor::Equal(row(s[0]), 0), value, -value);
  });
  if (m == 1) return {pivot, x};
  const tensor::Tensor rest = b.Map("det.rest", {count, m - 1, m - 1}, [&](const Exprs& s) {
    const Expr pivot_row = row(s[0]);
    // The first row goes to where the pivot's row was.
    const Expr own = tensor::Select(tensor::Equal(s[1] + Expr(1), pivot_row), 0, s[1] + Expr(1));
    const Expr top = x(s[0], pivot_row, 0);
    const Expr zero = LiteralLike(0, top);
    const Expr factor = tensor::Select(tensor::Equal(top, zero), zero, x(s[0], own, 0) / top);
    return x(s[0], own, s[2] + Expr(1)) - factor * x(s[0], pivot_row, s[2] + Expr(1));
  });
  return {pivot, rest};
}

void Det(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  if (Rank(x) < 2 || x.shape().back() != x.shape()[Rank(x) - 2]) {
    context.Refuse("the last two axes are no square matrix");
  }
  const int64_t m = x.shape().back();
  const std::vector<int64_t> batch(x.shape().begin(), x.shape().end() - 2);
  if (m < 1 || m > kMaxOrder) context.Refuse(fmt::format("a matrix of the order {}", m));
  const int64_t count = CheckedElementCount(batch);
  tensor::Tensor rest = context.builder().View(x, {count, m, m}), product;
  for (int64_t step = 0; step < m; ++step) {
    const Elimination e = Eliminate(context, rest);
    product = step == 0 ? e.pivot
                        : Elementwise(context, "det.product", {product, e.pivot},
                                      [](const Exprs& p) { return p[0] * p[1]; });
    rest = e.rest;
  }
  context.SetOutput(0, context.builder().View(product, batch));
}

}  // namespace

std::span<const Operator> DeterminantOperators() {
  static const Operator operators[] = {{"Det", Det}};
  return operators;
}

}  // namespace bayloom::graph
