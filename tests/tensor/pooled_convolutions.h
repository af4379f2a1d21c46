// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::testing {

/// A convolution, and the pool behind it, channels last.
struct PooledConvolutionShape {
  int64_t batch = 1, height = 9, width = 7, channels = 3, filters = 8;
  int64_t kernel = 3, stride = 1, dilation = 1, pad = 1;
  int64_t pool = 3, pool_stride = 2, pool_dilation = 1, pool_pad = 0;
  int64_t more_pad = 0, more_pool_pad = 0;  ///< below and right only, beside the above
  bool is_planar = false;                   ///< the image, which is padded, has channels first
  bool activates = true;                    ///< bias and activation are between
  bool averages = false;                    ///< of the elements inside of the image
  tensor::DType dtype = tensor::DType::kFloat32;  ///< of tensors; sums are float32
};

/// Images of a shape, channels last, with rows and columns of `fill` around them: `pad` on each
/// side, and `more` below and right.
inline tensor::Tensor WithBorder(
    tensor::WorkloadBuilder& b, const std::string& name, std::vector<int64_t> shape,
    const std::function<tensor::Expr(const tensor::Expr&, const tensor::Expr&, const tensor::Expr&,
                                     const tensor::Expr&)>& element,
    int64_t pad, int64_t more, const tensor::Expr& fill) {
  using tensor::Expr;
  const int64_t h = shape[1], w = shape[2];
  shape[1] += 2 * pad + more;
  shape[2] += 2 * pad + more;
  return b.Compute(name, shape, [&](const auto& i) {
    const Expr row = i[1] - Expr(pad), column = i[2] - Expr(pad);
    return tensor::Select(Expr(0) <= row && row < Expr(h) && Expr(0) <= column && column < Expr(w),
                          element(i[0], row, column, i[3]), fill);
  });
}

inline tensor::Workload PooledConvolutionWorkload(const PooledConvolutionShape& shape) {
  using tensor::Expr;
  using tensor::Tensor;
  const auto wide = [](const Expr& e) { return tensor::Cast(tensor::DType::kFloat32, e); };
  const auto windows = [](int64_t extent, int64_t taps, int64_t dilation, int64_t stride) {
    return (extent - (taps - 1) * dilation - 1) / stride + 1;
  };
  tensor::WorkloadBuilder b("pooled_convolution");
  const std::vector<int64_t> image_shape = {shape.batch, shape.height, shape.width, shape.channels};
  const Tensor x = b.Input(
      "x",
      shape.is_planar ? std::vector{image_shape[0], image_shape[3], image_shape[1], image_shape[2]}
                      : image_shape,
      shape.dtype);
  const auto element = [&](const Expr& n, const Expr& row, const Expr& column, const Expr& c) {
    return shape.is_planar ? x(n, c, row, column) : x(n, row, column, c);
  };
  const Tensor image = shape.pad + shape.more_pad > 0
                           ? WithBorder(b, "padded", image_shape, element, shape.pad,
                                        shape.more_pad, tensor::Literal(0, shape.dtype))
                           : x;
  const Tensor weights = b.Constant(
      "weights", {shape.kernel, shape.kernel, shape.channels, shape.filters}, shape.dtype);
  const int64_t around = 2 * shape.pad + shape.more_pad;
  const int64_t rows = windows(shape.height + around, shape.kernel, shape.dilation, shape.stride);
  const int64_t columns = windows(shape.width + around, shape.kernel, shape.dilation, shape.stride);
  const std::vector<int64_t> between_shape = {shape.batch, rows, columns, shape.filters};
  Tensor between = b.Reduce(
      "conv", between_shape, {{"kh", shape.kernel}, {"kw", shape.kernel}, {"ci", shape.channels}},
      tensor::Reduction::kSum, [&](const auto& s, const auto& r) {
        return wide(image(s[0], s[1] * Expr(shape.stride) + r[0] * Expr(shape.dilation),
                          s[2] * Expr(shape.stride) + r[1] * Expr(shape.dilation), r[2])) *
               wide(weights(r[0], r[1], r[2], s[3]));
      });
  if (shape.activates) {
    const Tensor sums = between, bias = b.Constant("bias", {shape.filters});
    const Tensor biased =
        b.Compute("biased", between_shape, [&](const auto& i) { return sums.At(i) + bias(i[3]); });
    between = b.Compute("active", between_shape, [&](const auto& i) {
      return tensor::Max(biased.At(i), tensor::FloatLiteral(0));
    });
  }
  const tensor::Reduction reduction =
      shape.averages ? tensor::Reduction::kSum : tensor::Reduction::kMax;
  const Tensor bordered = shape.pool_pad + shape.more_pool_pad > 0
                              ? WithBorder(
                                    b, "bordered", between_shape,
                                    [&](const Expr& n, const Expr& row, const Expr& column,
                                        const Expr& c) { return between(n, row, column, c); },
                                    shape.pool_pad, shape.more_pool_pad,
                                    tensor::NeutralElement(reduction, between.dtype()))
                              : between;
  const auto pooled_windows = [&](int64_t extent) {
    return windows(extent + 2 * shape.pool_pad + shape.more_pool_pad, shape.pool,
                   shape.pool_dilation, shape.pool_stride);
  };
  const std::vector<int64_t> result_shape = {shape.batch, pooled_windows(rows),
                                             pooled_windows(columns), shape.filters};
  const Tensor pooled = b.Reduce(
      "pool", result_shape, {{"rh", shape.pool}, {"rw", shape.pool}}, reduction,
      [&](const auto& s, const auto& r) {
        return bordered(s[0], s[1] * Expr(shape.pool_stride) + r[0] * Expr(shape.pool_dilation),
                        s[2] * Expr(shape.pool_stride) + r[1] * Expr(shape.pool_dilation), s[3]);
      });
  if (!shape.averages) return b.Build({pooled});
  const auto inside = [&](const Expr& place, int64_t extent) {
    const Expr first = place * Expr(shape.pool_stride) - Expr(shape.pool_pad);
    return tensor::Min(first + Expr(shape.pool), Expr(extent)) - tensor::Max(first, Expr(0));
  };
  return b.Build({b.Compute("mean", result_shape, [&](const auto& i) {
    return pooled.At(i) / wide(inside(i[1], rows) * inside(i[2], columns));
  })});
}

}  // namespace bayloom::testing
