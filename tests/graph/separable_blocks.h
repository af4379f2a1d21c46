// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/graph/builder.h"
#include "bayloom/graph/graph.h"

namespace bayloom::graph {

/// A network of depthwise convolutions with 1x1 convolutions behind them, channels last.
struct SeparableBlocks {
  int blocks = 2;
  int64_t height = 9, width = 7, channels = 8;
  int64_t kernel = 3, stride = 1, pad = 1;
  bool shows_first = false;  ///< what the first depthwise convolution gives is an output, too
};

inline tensor::HostTensor SomeWeights(const std::vector<int64_t>& shape, int seed) {
  tensor::HostTensor data = tensor::HostTensor::Zeros(tensor::DType::kFloat32, shape);
  for (int64_t i = 0; i < data.ElementCount(); ++i) {
    data.Set(i, static_cast<double>((i * 7 + seed * 5) % 11 - 5) / 8);
  }
  return data;
}

inline Graph MakeSeparableBlocks(const SeparableBlocks& model) {
  using tensor::Expr;
  GraphBuilder b("separable");
  const int64_t c = model.channels, pad = model.pad;
  tensor::Tensor x = b.Input("x", tensor::DType::kFloat32, {1, model.height, model.width, c});
  std::vector<GraphOutput> outputs;
  for (int block = 0; block < model.blocks; ++block) {
    const std::string number = std::to_string(block);
    const int64_t h = x.shape()[1], w = x.shape()[2];
    const tensor::Tensor image = x;
    const tensor::Tensor padded =
        b.Map("pad", {1, h + 2 * pad, w + 2 * pad, c}, [&](const auto& i) {
          const Expr row = i[1] - Expr(pad), column = i[2] - Expr(pad);
          return tensor::Select(
              Expr(0) <= row && row < Expr(h) && Expr(0) <= column && column < Expr(w),
              image(i[0], row, column, i[3]), tensor::FloatLiteral(0));
        });
    const tensor::Tensor taps =
        b.Constant("taps" + number, SomeWeights({model.kernel, model.kernel, c}, block));
    const int64_t rows = (h + 2 * pad - model.kernel) / model.stride + 1;
    const int64_t columns = (w + 2 * pad - model.kernel) / model.stride + 1;
    const tensor::Tensor depthwise = b.Reduce(
        "depthwise", {1, rows, columns, c}, {{"kh", model.kernel}, {"kw", model.kernel}},
        tensor::Reduction::kSum,
        [&](const auto& s, const auto& r) {
          return padded(s[0], s[1] * Expr(model.stride) + r[0], s[2] * Expr(model.stride) + r[1],
                        s[3]) *
                 taps(r[0], r[1], s[3]);
        },
        NodeKind::kWindow);
    const tensor::Tensor active = b.Map("relu", depthwise.shape(), [&](const auto& i) {
      return tensor::Max(depthwise.At(i), tensor::FloatLiteral(0));
    });
    if (block == 0 && model.shows_first) outputs.push_back({"first", active.id()});
    const tensor::Tensor weights = b.Constant("weights" + number, SomeWeights({c, c}, block + 100));
    x = b.Reduce(
        "conv", {1, rows, columns, c}, {{"ci", c}}, tensor::Reduction::kSum,
        [&](const auto& s, const auto& r) {
          return active(s[0], s[1], s[2], r[0]) * weights(r[0], s[3]);
        },
        NodeKind::kWindow);
  }
  outputs.push_back({"y", x.id()});
  return b.Build(outputs);
}

}  // namespace bayloom::graph
