// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Linear quantization: real value = (integer - zero point) * scale.
#include "bayloom/graph/internal/operators/quantization.h"

#include <fmt/format.h>

#include "bayloom/graph/internal/operators/small_rounding.h"

namespace bayloom::graph {
namespace {

/// The element of a scale or zero point that belongs to `place`: one for all, one for each slice of
/// the axis, or, with a block size, one for each block of elements along it.
tensor::Expr ParameterAt(OperatorContext& context, const tensor::Tensor& parameter,
                         const Exprs& place, int axis, int64_t block,
                         const std::vector<int64_t>& shape) {
  const int64_t count = CheckedElementCount(parameter.shape());
  std::vector<int64_t> blocks = shape;
  if (block > 0) blocks[axis] = (shape[axis] + block - 1) / block;
  if (block > 0 && parameter.shape() == blocks) {
    Exprs index = place;
    index[axis] = tensor::FloorDiv(place[axis], tensor::Expr(block));
    return parameter.At(index);
  }
  const tensor::Tensor flat = context.builder().View(parameter, {count});
  if (count == 1) return flat(0);
  if (block > 0 || axis >= static_cast<int>(shape.size()) || count != shape[axis]) {
    context.Refuse(fmt::format("scales or zero points {} for the shape {}",
                               ToString(parameter.dtype(), parameter.shape()),
                               ToString(parameter.dtype(), shape)));
  }
  return flat(place[axis]);
}

/// The same for scales of a whole tensor or of slices.
tensor::Expr PerAxisAt(OperatorContext& context, const tensor::Tensor& parameter,
                       const Exprs& place, int axis, const std::vector<int64_t>& shape) {
  return ParameterAt(context, parameter, place, axis, 0, shape);
}

tensor::Expr Saturated(const tensor::Expr& rounded, tensor::DType dtype) {
  const tensor::Expr low = tensor::NeutralElement(tensor::Reduction::kMax, dtype);
  const tensor::Expr high = tensor::NeutralElement(tensor::Reduction::kMin, dtype);
  const auto bound = [&](const tensor::Expr& limit) {
    return LiteralLike(static_cast<double>(limit->int_value), rounded);
  };
  return tensor::Cast(dtype, tensor::Min(tensor::Max(rounded, bound(low)), bound(high)));
}

void CheckEightBits(OperatorContext& context, tensor::DType dtype) {
  if (dtype != tensor::DType::kInt8 && dtype != tensor::DType::kUInt8) {
    context.Refuse(fmt::format("quantization to {} is not supported", tensor::ToString(dtype)));
  }
}

void CheckQuantized(OperatorContext& context, tensor::DType dtype) {
  if (!tensor::IsInteger(dtype) || tensor::ByteSize(dtype) > 2) {
    context.Refuse(fmt::format("quantization to {} is not supported", tensor::ToString(dtype)));
  }
}

int QuantizationAxis(OperatorContext& context, const tensor::Tensor& x) {
  const int rank = static_cast<int>(x.shape().size());
  const int64_t axis = context.Int("axis", 1);
  return axis == 1 && rank < 2 ? 0 : rank == 0 ? 0 : context.CheckAxis(axis, rank);
}

int64_t BlockSizeOf(OperatorContext& context) {
  const int64_t block = context.Int("block_size", 0);
  if (block < 0 || block > (int64_t{1} << 40)) {
    context.RefuseAttribute("block_size", fmt::format("{}", block), "has to be positive");
  }
  return block;
}

/// An element type that an attribute gives as ONNX's number; 0 or absent: `otherwise`.
ElementType TypeAttribute(OperatorContext& context, const char* name, tensor::DType otherwise) {
  const int64_t number = context.Int(name, 0);
  return number == 0 ? ElementType{otherwise} : ElementTypeFromOnnx(number);
}

/// A real level, zero point added, as a quantized one.
tensor::Expr Quantized(const tensor::Expr& level, const ElementType& type, bool saturate) {
  if (!type.small) return Saturated(level, type.dtype);
  if (type.small->IsFloat()) return RoundToFloat(*type.small, level, saturate);
  const tensor::Expr low = LiteralLike(static_cast<double>(type.small->Low()), level);
  const tensor::Expr high = LiteralLike(static_cast<double>(type.small->High()), level);
  return tensor::Cast(type.dtype, tensor::Min(tensor::Max(level, low), high));
}

/// What x is divided by its scale in: from operator set 19 on the type of the scale.
tensor::DType DivisionType(OperatorContext& context, const tensor::Tensor& scale) {
  const tensor::DType wide = tensor::DType::kFloat32;
  const bool is_wide = context.opset() < 19 || !tensor::IsFloat(scale.dtype());
  return TypeAttribute(context, "precision", is_wide ? wide : scale.dtype()).dtype;
}

void QuantizeLinear(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), scale = context.Input(1);
  const int axis = QuantizationAxis(context, x);
  const int64_t block = BlockSizeOf(context);
  ElementType type = TypeAttribute(context, "output_dtype", tensor::DType::kUInt8);
  if (context.HasInput(2)) type = TypeOf(context, 2);
  if (!type.small) CheckQuantized(context, type.dtype);
  const bool rounds = !type.small || !type.small->IsFloat();
  const bool saturate = context.Int("saturate", 1) != 0;
  const tensor::DType division = DivisionType(context, scale);
  const auto quantized = [&](const Exprs& place) {
    const auto at = [&](const tensor::Tensor& parameter) {
      return ParameterAt(context, parameter, place, axis, block, x.shape());
    };
    tensor::Expr ratio = tensor::Cast(division, x.At(place)) / tensor::Cast(division, at(scale));
    if (rounds) ratio = tensor::Unary(tensor::ExprOp::kRound, ratio);
    tensor::Expr level = tensor::Cast(tensor::DType::kFloat32, ratio);
    if (context.HasInput(2)) {
      level = level + tensor::Cast(tensor::DType::kFloat32, at(context.Input(2)));
    }
    return Quantized(level, type, saturate);
  };
  context.SetOutput(0, context.builder().Map("quantize", x.shape(), quantized), type.small);
}

void DequantizeLinear(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), scale = context.Input(1);
  const int axis = QuantizationAxis(context, x);
  const int64_t block = BlockSizeOf(context);
  const tensor::DType dtype = TypeAttribute(context, "output_dtype", scale.dtype()).dtype;
  if (!tensor::IsFloat(dtype)) {
    context.Refuse(fmt::format("an output of {} is not supported", tensor::ToString(dtype)));
  }
  const tensor::DType centred = tensor::IsFloat(x.dtype()) ? dtype : tensor::DType::kInt32;
  context.SetOutput(0, context.builder().Map("dequantize", x.shape(), [&](const Exprs& place) {
    const auto at = [&](const tensor::Tensor& parameter) {
      return ParameterAt(context, parameter, place, axis, block, x.shape());
    };
    tensor::Expr level = tensor::Cast(centred, x.At(place));
    if (context.HasInput(2)) level = level - tensor::Cast(centred, at(context.Input(2)));
    return tensor::Cast(dtype, level) * tensor::Cast(dtype, at(scale));
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
      return tensor::Cast(tensor::DType::kFloat32,
                          PerAxisAt(context, context.Input(input), place, axis, y.shape()));
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
