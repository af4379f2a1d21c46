// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/layouts/blocked_convolution.h"

namespace bayloom {
namespace {

using tensor::Conv2dShape;
using tensor::Expr;
using tensor::Tensor;
using Exprs = tensor::WorkloadBuilder::Exprs;

const std::vector<std::string> kAxes = {"n", "cb", "h", "w", "c"};

Tensor Padded(tensor::WorkloadBuilder& b, const Tensor& x, const tensor::Conv2dOptions& options) {
  const auto [top, left] = options.pad_before;
  const auto [bottom, right] = options.pad_after;
  if (top + left + bottom + right == 0) return x;
  return tensor::Pad(b, "conv_pad", x, {0, 0, top, left, 0}, {0, 0, bottom, right, 0},
                     tensor::FloatLiteral(0));
}

Tensor Convolution(tensor::WorkloadBuilder& b, const Conv2dShape& s, int64_t block,
                   const Tensor& image, const std::vector<int64_t>& result) {
  const auto [rows, columns] = s.kernel;
  const auto [down, right] = s.options.stride;
  if (s.groups > 1) {
    const Tensor w = b.Constant("weight", {s.groups / block, rows, columns, block});
    return b.Reduce(
        "conv", result, {{"kh", rows}, {"kw", columns}}, tensor::Reduction::kSum,
        [&, down = down, right = right](const Exprs& o, const Exprs& r) {
          return image(o[0], o[1], o[2] * down + r[0], o[3] * right + r[1], o[4]) *
                 w(o[1], r[0], r[1], o[4]);
        },
        kAxes);
  }
  const int64_t in = s.in_channels / block, out = s.out_channels / block;
  const Tensor w = b.Constant("weight", {out, in, rows, columns, block, block});
  return b.Reduce(
      "conv", result, {{"cib", in}, {"kh", rows}, {"kw", columns}, {"ci", block}},
      tensor::Reduction::kSum,
      [&, down = down, right = right](const Exprs& o, const Exprs& r) {
        return image(o[0], r[0], o[2] * down + r[1], o[3] * right + r[2], r[3]) *
               w(o[1], r[0], r[1], r[2], r[3], o[4]);
      },
      kAxes);
}

}  // namespace

tensor::Workload BlockedConvolution(const Conv2dShape& s, int64_t block) {
  tensor::WorkloadBuilder b("blocked_conv2d");
  const Tensor x = b.Input("x", {s.batch, s.in_channels / block, s.height, s.width, block});
  const Tensor image = Padded(b, x, s.options);
  const std::vector<int64_t> result = {
      s.batch, s.out_channels / block, (image.shape()[2] - s.kernel[0]) / s.options.stride[0] + 1,
      (image.shape()[3] - s.kernel[1]) / s.options.stride[1] + 1, block};
  Tensor y = Convolution(b, s, block, image, result);
  if (s.epilogue.bias) {
    const Tensor bias = b.Constant("bias", {s.out_channels / block, block});
    y = b.Compute(
        "add_bias", result, [&](const Exprs& o) { return y.At(o) + bias(o[1], o[4]); }, kAxes);
  }
  if (s.epilogue.relu) y = tensor::Map(b, "relu", y, tensor::Relu);
  return b.Build({y});
}

}  // namespace bayloom
