// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/graph.h"
#include "tests/graph/separable_blocks.h"

namespace bayloom::graph {

/// A network of 3x3 convolutions with pools behind them, channels last.
struct PooledBlocks {
  int blocks = 1;
  int64_t height = 13, width = 11, channels = 8;
  int64_t pool = 3, stride = 2, pad = 0;
};

/// The tensor with `fill` around its rows and columns.
inline tensor::Tensor Bordered(GraphBuilder& b, const tensor::Tensor& x, int64_t pad, double fill) {
  using tensor::Expr;
  if (pad == 0) return x;
  const std::vector<int64_t> shape = {1, x.shape()[1] + 2 * pad, x.shape()[2] + 2 * pad,
                                      x.shape()[3]};
  return b.Map("pad", shape, [&](const auto& i) {
    const Expr row = i[1] - Expr(pad), column = i[2] - Expr(pad);
    return tensor::Select(Expr(0) <= row && row < Expr(x.shape()[1]) && Expr(0) <= column &&
                              column < Expr(x.shape()[2]),
                          x(i[0], row, column, i[3]), tensor::FloatLiteral(fill));
  });
}

inline Graph MakePooledBlocks(const PooledBlocks& model) {
  using tensor::Expr;
  GraphBuilder b("pooled");
  const int64_t c = model.channels;
  tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {1, model.height, model.width, c});
  for (int block = 0; block < model.blocks; ++block) {
    const tensor::Tensor image = Bordered(b, x, 1, 0);
    const tensor::Tensor weights =
        b.Constant("weights" + std::to_string(block), SomeWeights({3, 3, c, c}, block));
    const tensor::Tensor conv = b.Reduce(
        "conv", x.shape(), {{"kh", 3}, {"kw", 3}, {"ci", c}}, tensor::Reduction::kSum,
        [&](const auto& s, const auto& r) {
          return image(s[0], s[1] + r[0], s[2] + r[1], r[2]) * weights(r[0], r[1], r[2], s[3]);
        },
        NodeKind::kWindow);
    const tensor::Tensor active = b.Map("relu", conv.shape(), [&](const auto& i) {
      return tensor::Max(conv.At(i), tensor::FloatLiteral(0));
    });
    const tensor::Tensor bordered = Bordered(b, active, model.pad, -1e30);
    const int64_t rows = (bordered.shape()[1] - model.pool) / model.stride + 1;
    const int64_t columns = (bordered.shape()[2] - model.pool) / model.stride + 1;
    x = b.Reduce(
        "maxpool", {1, rows, columns, c}, {{"rh", model.pool}, {"rw", model.pool}},
        tensor::Reduction::kMax,
        [&](const auto& s, const auto& r) {
          return bordered(s[0], s[1] * Expr(model.stride) + r[0], s[2] * Expr(model.stride) + r[1],
                          s[3]);
        },
        NodeKind::kWindow);
  }
  return b.Build({{"y", x.id()}});
}

}  // namespace bayloom::graph
