// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Linear quantization: real value = (integer - zero point) * scale.
#include "bayloom/graph/internal/operators/quantization.h"

#include <fmt/format.h>

namespace bayloom::graph {
namespace {

/// The element of a scale or zero point that belongs to `place`.
tensor::Expr PerAxisAt(OperatorContext& context, const tensor::Tensor& parameter,
                       const Exprs& place, int axis, const std::vector<int64_t>& shape) {
  const int64_t count = CheckedElementCount(parameter.shape());
  const tensor::Tensor flat = context.builder().View(parameter, {count});
  if (count == 1) return flat(0);
  if (axis >= static_cast<int>(shape.size()) || count != shape[axis]) {
    context.Refuse(fmt::format("{} scales or zero points for the shape {}", count,
                               ToString(parameter.dtype(), shape)));
  }
  return flat(place[axis]);
}

tensor::Expr Saturated(const tensor::Expr& rounded, tensor::DType dtype) {
  double low = 0, high = 255;
  if (dtype == tensor::DType::kInt8) {
    low = -128;
    high = 127;
  }
  return tensor::Cast(dtype, tensor::Min(tensor::Max(rounded, LiteralLike(low, rounded)),
                                         LiteralLike(high, rounded)));
}

void CheckEightBits(OperatorContext& context, tensor::DType dtype) {
  if (dtype != tensor::DType::kInt8 && dtype != tensor::DType::kUInt8) {
    context.Refuse(fmt::format("quantization to {} is not supported", tensor::ToString(dtype)));
  }
}

int QuantizationAxis(OperatorContext& context, const tensor::Tensor& x) {
  const int rank = static_cast<int>(x.shape().size());
  const int64_t axis = context.Int("axis", 1);
  return axis == 1 && rank < 2 ? 0 : rank == 0 ? 0 : context.CheckAxis(axis, rank);
}

void QuantizeLinear(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), scale = context.Input(1);
  const int axis = QuantizationAxis(context, x);
  const tensor::DType dtype =
      context.HasInput(2) ? context.Input(2).dtype() : tensor::DType::kUInt8;
  CheckEightBits(context, dtype);
  context.SetOutput(0, context.builder().Map("quantize", x.shape(), [&](const Exprs& place) {
    const tensor::Expr step = PerAxisAt(context, scale, place, axis, x.shape());
    tensor::Expr level = tensor::Unary(tensor::ExprOp::kRound,
                                       tensor::Cast(tensor::DType::kFloat32, x.At(place)) / step);
    if (context.HasInput(2)) {
      const tensor::Expr zero = PerAxisAt(context, context.Input(2), place, axis, x.shape());
      level = level + tensor::Cast(tensor::DType::kFloat32, zero);
    }
    return Saturated(level, dtype);
  }));
}

void DequantizeLinear(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), scale = context.Input(1);
  const int axis = QuantizationAxis(context, x);
  const tensor::Tensor centred = WithoutZeroPoint(context, x, 2, axis);
  context.SetOutput(0, context.builder().Map("dequantize", x.shape(), [&](const Exprs& place) {
    return tensor::Cast(tensor::DType::kFloat32, centred.At(place)) *
           PerAxisAt(context, scale, place, axis, x.shape());
  }));
}

}  // namespace

tensor::Tensor WithoutZeroPoint(OperatorContext& context, const tensor::Tensor& x, int zero_point,
                                int axis) {
  return context.builder().Map("centre", x.shape(), [&](const Exprs& place) {
    const tensor::Expr wide = tensor::Cast(tensor::DType::kInt32, x.At(place));
    if (!context.HasInput(zero_point)) return wide;
    const tensor::Expr zero = PerAxisAt(context, context.Input(zero_point), place, axis, x.shape());
    return wide - tensor::Cast(tensor::DType::kInt32, zero);
  });
}

tensor::Tensor Requantize(OperatorContext& context, const tensor::Tensor& y,
                          const std::vector<int>& scales, int y_scale, int y_zero_point, int axis) {
  const tensor::Tensor zero = context.Input(y_zero_point);
  CheckEightBits(context, zero.dtype());
  return context.builder().Map("requantize", y.shape(), [&](const Exprs& place) {
    const auto scale_at = [&](int input) {
      return PerAxisAt(context, context.Input(input), place, axis, y.shape());
    };
    tensor::Expr factor = LiteralLike(1, scale_at(y_scale));
    for (int input : scales) factor = factor * scale_at(input);
    factor = factor / scale_at(y_scale);
    const tensor::Expr level =
        tensor::Unary(tensor::ExprOp::kRound,
                      tensor::Cast(tensor::DType::kFloat32, y.At(place)) * factor) +
        tensor::Cast(tensor::DType::kFloat32, PerAxisAt(context, zero, place, axis, y.shape()));
    return Saturated(level, zero.dtype());
  });
}

std::span<const Operator> QuantizationOperators() {
  static const Operator operators[] = {
      {"DequantizeLinear", DequantizeLinear},
      {"QuantizeLinear", QuantizeLinear},
  };
  return operators;
}

}  // namespace bayloom::graph
