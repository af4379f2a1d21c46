// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::testing {

/// A depthwise convolution or a pool, and the 1x1 convolution behind it.
struct WindowChainShape {
  int64_t batch = 1, height = 9, width = 7, channels = 6, filters = 10;
  int64_t kernel = 3, stride = 1, dilation = 1, pad = 1;
  bool activates = true;                          ///< bias and activation are between
  bool pools = false;                             ///< the largest of each window
  bool residual = false;                          ///< is added to the result
  tensor::DType dtype = tensor::DType::kFloat32;  ///< of tensors; sums are float32
};

inline tensor::Workload WindowChainWorkload(const WindowChainShape& shape) {
  using tensor::Expr;
  using tensor::Tensor;
  const auto wide = [](const Expr& e) { return tensor::Cast(tensor::DType::kFloat32, e); };
  const auto narrow = [&](const Expr& e) { return tensor::Cast(shape.dtype, e); };
  const int64_t h = shape.height, w = shape.width, pad = shape.pad;
  const int64_t reach = (shape.kernel - 1) * shape.dilation + 1;
  const int64_t rows = (h + 2 * pad - reach) / shape.stride + 1;
  const int64_t columns = (w + 2 * pad - reach) / shape.stride + 1;
  tensor::WorkloadBuilder b("window_chain");
  Tensor image = b.Input("x", {shape.batch, h, w, shape.channels}, shape.dtype);
  if (pad > 0) {
    const Tensor x = image;
    image = b.Compute(
        "padded", {shape.batch, h + 2 * pad, w + 2 * pad, shape.channels}, [&](const auto& i) {
          const Expr row = i[1] - Expr(pad), column = i[2] - Expr(pad);
          return tensor::Select(
              Expr(0) <= row && row < Expr(h) && Expr(0) <= column && column < Expr(w),
              x(i[0], row, column, i[3]), tensor::Literal(0, shape.dtype));
        });
  }
  Tensor taps, shift;
  if (!shape.pools) {
    taps = b.Constant("taps", {shape.kernel, shape.kernel, shape.channels}, shape.dtype);
  }
  const auto in_window = [&](const auto& s, const auto& r) {
    return image(s[0], s[1] * Expr(shape.stride) + r[0] * Expr(shape.dilation),
                 s[2] * Expr(shape.stride) + r[1] * Expr(shape.dilation), s[3]);
  };
  const std::vector<int64_t> between_shape = {shape.batch, rows, columns, shape.channels};
  const Tensor windows =
      b.Reduce("windows", between_shape, {{"rh", shape.kernel}, {"rw", shape.kernel}},
               shape.pools ? tensor::Reduction::kMax : tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) {
                 if (shape.pools) return wide(in_window(s, r));
                 return wide(in_window(s, r)) * wide(taps(r[0], r[1], s[3]));
               });
  Tensor between = windows;
  if (shape.activates) {
    shift = b.Constant("shift", {shape.channels});
    between = b.Compute("between", between_shape, [&](const auto& i) {
      return narrow(
          tensor::Max(windows(i[0], i[1], i[2], i[3]) + shift(i[3]), tensor::FloatLiteral(0)));
    });
  }
  const Tensor weights = b.Constant("weights", {shape.channels, shape.filters}, shape.dtype);
  const std::vector<int64_t> result_shape = {shape.batch, rows, columns, shape.filters};
  const Tensor pointwise =
      b.Reduce("pointwise", result_shape, {{"ci", shape.channels}}, tensor::Reduction::kSum,
               [&](const auto& s, const auto& r) {
                 return wide(between(s[0], s[1], s[2], r[0])) * wide(weights(r[0], s[3]));
               });
  const Tensor bias = b.Constant("bias", {shape.filters});
  Tensor other;
  if (shape.residual) other = b.Input("other", result_shape);
  const Tensor y = b.Compute("y", result_shape, [&](const auto& i) {
    return pointwise(i[0], i[1], i[2], i[3]) + bias(i[3]);
  });
  if (!shape.residual) return b.Build({y});
  return b.Build({b.Compute("sum", result_shape, [&](const auto& i) {
    return y(i[0], i[1], i[2], i[3]) + other(i[0], i[1], i[2], i[3]);
  })});
}

}  // namespace bayloom::testing
