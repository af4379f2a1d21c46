// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Determinants by elimination.
#include <fmt/format.h>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {
namespace {

using tensor::Expr;
using tensor::ExprOp;

constexpr int64_t kMaxOrder = 64;

/// One step of Gaussian elimination on [m, m, matrices] with partial pivoting: the pivot's row and
/// column are gone from `rest`, and `pivot` is signed by the exchange of rows. Matrices lie side by
/// side, so that vectors hold one element of many.
struct Elimination {
  tensor::Tensor pivot, rest;
};

Elimination Eliminate(OperatorContext& context, const tensor::Tensor& x) {
  GraphBuilder& b = context.builder();
  const int64_t m = x.shape()[0], count = x.shape()[2];
  const tensor::Tensor column = b.Map("det.column", {m, count}, [&](const Exprs& s) {
    return tensor::Unary(ExprOp::kAbs, x(s[0], 0, s[1]));
  });
  const tensor::Tensor found = ArgExtreme(context, column, 0, true, false);
  const tensor::Tensor row = b.View(found, {count});
  const auto pivot_row = [&](const Expr& matrix) { return WrappedIndex(row(matrix), m); };
  const tensor::Tensor pivot = b.Map("det.pivot", {count}, [&](const Exprs& s) {
    const Expr value = x(pivot_row(s[0]), 0, s[0]);
    return tensor::Select(tensor::Equal(pivot_row(s[0]), 0), value, -value);
  });
  if (m == 1) return {pivot, x};
  const tensor::Tensor rest = b.Map("det.rest", {m - 1, m - 1, count}, [&](const Exprs& s) {
    // The first row goes to where the pivot's row was.
    const Expr next = s[0] + Expr(1);
    const Expr own = tensor::Select(tensor::Equal(next, pivot_row(s[2])), 0, next);
    const Expr top = x(pivot_row(s[2]), 0, s[2]);
    const Expr zero = LiteralLike(0, top);
    const Expr factor = tensor::Select(tensor::Equal(top, zero), zero, x(own, 0, s[2]) / top);
    return x(own, s[1] + Expr(1), s[2]) - factor * x(pivot_row(s[2]), s[1] + Expr(1), s[2]);
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
  tensor::Tensor rest = Permute(context, context.builder().View(x, {count, m, m}), {1, 2, 0});
  tensor::Tensor product;
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
