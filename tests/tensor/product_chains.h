// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/tensor/workload.h"

namespace bayloom::testing {

/// y = exp(a b') c, normalized by its row's sum: keys in groups of 4 lanes.
inline tensor::Workload ProductChainWorkload(int64_t rows = 10) {
  using tensor::Reduction;
  using tensor::Tensor;
  const int64_t heads = 3, depth = 5, groups = 6, lanes = 4, channels = 7;
  tensor::WorkloadBuilder b("chain");
  const Tensor q = b.Input("q", {heads, rows, depth});
  const Tensor k = b.Input("k", {heads, groups * lanes, depth});
  const Tensor v = b.Input("v", {heads, groups * lanes, channels});
  const Tensor keys = b.Compute("keys", {heads, groups, depth, lanes}, [&](const auto& s) {
    return k(s[0], s[1] * tensor::Expr(lanes) + s[3], s[2]);
  });
  const Tensor scores =
      b.Reduce("scores", {heads, rows, groups, lanes}, {{"d", depth}}, Reduction::kSum,
               [&](auto s, auto r) { return q(s[0], s[1], r[0]) * keys(s[0], s[2], r[0], s[3]); });
  const Tensor weights = b.Compute("weights", {heads, rows, groups, lanes}, [&](const auto& s) {
    return tensor::Unary(tensor::ExprOp::kExp,
                         scores(s[0], s[1], s[2], s[3]) * tensor::FloatLiteral(0.125));
  });
  const Tensor partial = b.Reduce("partial", {heads, rows, lanes}, {{"g", groups}}, Reduction::kSum,
                                  [&](auto s, auto r) { return weights(s[0], s[1], r[0], s[2]); });
  const Tensor sum = b.Reduce("sum", {heads, rows}, {{"l", lanes}}, Reduction::kSum,
                              [&](auto s, auto r) { return partial(s[0], s[1], r[0]); });
  const Tensor values = b.Compute("values", {heads, groups, lanes, channels}, [&](const auto& s) {
    return v(s[0], s[1] * tensor::Expr(lanes) + s[2], s[3]);
  });
  const Tensor product =
      b.Reduce("product", {heads, rows, channels}, {{"g", groups}, {"l", lanes}}, Reduction::kSum,
               [&](auto s, auto r) {
                 return weights(s[0], s[1], r[0], r[1]) * values(s[0], r[0], r[1], s[2]);
               });
  const Tensor y = b.Compute("y", {rows, heads, channels}, [&](const auto& s) {
    return product(s[1], s[0], s[2]) / sum(s[1], s[0]);
  });
  return b.Build({y});
}

}  // namespace bayloom::testing
