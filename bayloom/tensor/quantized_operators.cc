// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/quantized_operators.h"

#include <stdexcept>

namespace bayloom::tensor {

Tensor Requantize(WorkloadBuilder& b, const std::string& name, const Tensor& sums, DType dtype) {
  const int64_t channels = sums.shape().back();
  const Tensor bias = b.Constant(name + "_bias", {channels}, DType::kInt32);
  const Tensor scale = b.Constant(name + "_scale", {channels});
  const auto low = static_cast<double>(NeutralElement(Reduction::kMax, dtype)->int_value);
  const auto high = static_cast<double>(NeutralElement(Reduction::kMin, dtype)->int_value);
  return b.Compute(name, sums.shape(), [&](const WorkloadBuilder::Exprs& at) {
    const Expr level = Cast(DType::kFloat32, sums.At(at) + bias(at.back())) * scale(at.back());
    return Cast(dtype, Clip(Unary(ExprOp::kRound, level), low, high));
  });
}

Workload QuantizedMatmulWorkload(int64_t m, int64_t n, int64_t k, const QuantizedTypes& types) {
  WorkloadBuilder b("quantized_matmul");
  const Tensor x = b.Input("x", {m, k}, types.data);
  const Tensor w = b.Constant("weight", {k, n}, types.weights);
  MatmulOptions options;
  options.accumulator = DType::kInt32;
  const Tensor sums = Matmul(b, "matmul", x, w, options);
  return b.Build({Requantize(b, "quantized", sums, types.data)});
}

Workload QuantizedConv2dWorkload(const Conv2dShape& shape, const QuantizedTypes& types) {
  if (shape.groups != 1) throw std::invalid_argument("a quantized convolution takes no groups");
  WorkloadBuilder b("quantized_conv2d");
  const Tensor x =
      b.Input("x", {shape.batch, shape.height, shape.width, shape.in_channels}, types.data);
  const Tensor w = b.Constant(
      "weight", {shape.kernel[0], shape.kernel[1], shape.in_channels, shape.out_channels},
      types.weights);
  Conv2dOptions options = shape.options;
  options.accumulator = DType::kInt32;
  const Tensor sums = Conv2d(b, "conv", x, w, options);
  return b.Build({Requantize(b, "quantized", sums, types.data)});
}

}  // namespace bayloom::tensor
