// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Linear quantization: real value = (integer - zero point) * scale.
#include "bayloom/graph/operators/quantization.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/operators/scaled_sum.h"
#include "bayloom/graph/operators/small_rounding.h"

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

/// A zero point that may be missing, as a constant; null: it is not known.
const tensor::HostTensor* KnownZero(OperatorContext& context, int input, tensor::DType dtype) {
  static const tensor::HostTensor none = tensor::HostTensor::Zeros(tensor::DType::kInt8, {});
  if (!context.HasInput(input)) return &none;
  return context.Input(input).dtype() == dtype ? context.ConstantInput(input) : nullptr;
}

/// Floats with one known scale and zero point; nullopt: something else.
std::optional<Quantization> KnownQuantization(OperatorContext& context, const tensor::Tensor& x,
                                              const tensor::Tensor& scale,
                                              const ElementType& type) {
  const tensor::HostTensor* zero = KnownZero(context, 2, type.dtype);
  if (!zero || zero->ElementCount() != 1 || CheckedElementCount(scale.shape()) != 1 || type.small ||
      x.dtype() != tensor::DType::kFloat32 || !IsScale(context, scale)) {
    return std::nullopt;
  }
  const auto factor = static_cast<float>(context.builder().ConstantOf(scale)->Get(0));
  return Quantization{factor, zero->GetInt(0), type.dtype};
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
  const auto known = KnownQuantization(context, x, scale, type);
  if (known && division == tensor::DType::kFloat32) {
    return context.SetOutput(0, Quantize(context, x, *known));
  }
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

/// The one term of a dequantized tensor, if all but its integers is known.
std::optional<ScaledSum> DequantizedSum(OperatorContext& context, const tensor::Tensor& x,
                                        const tensor::Tensor& scale, int axis) {
  const bool bytes = x.dtype() == tensor::DType::kInt8 || x.dtype() == tensor::DType::kUInt8;
  const tensor::HostTensor* zero = KnownZero(context, 2, x.dtype());
  if ((!bytes && x.dtype() != tensor::DType::kInt32) || !zero || !IsScale(context, scale)) {
    return std::nullopt;
  }
  const bool has_zero =
      std::ranges::any_of(zero->data, [](std::byte b) { return b != std::byte{0}; });
  if (has_zero && !bytes) return std::nullopt;
  const auto shaped = [&](const tensor::Tensor& parameter) -> std::optional<tensor::Tensor> {
    const int64_t count = CheckedElementCount(parameter.shape());
    if (count == 1) return context.builder().View(parameter, {});
    if (axis >= Rank(x) || x.shape()[axis] != count) return std::nullopt;
    std::vector<int64_t> shape(Rank(x) - axis, 1);
    shape[0] = count;
    return context.builder().View(parameter, shape);
  };
  const auto factor = shaped(scale);
  const auto level = has_zero ? shaped(context.Input(2)) : std::nullopt;
  if (!factor || (has_zero && !level)) return std::nullopt;
  return ScaledSum{.shape = x.shape(), .terms = {{x, *factor, level}}};
}

/// What a matrix of floats is known to be made of, block by block; nullopt: something else.
std::optional<BlockFloats> DequantizedBlocks(OperatorContext& context, const tensor::Tensor& x,
                                             const tensor::Tensor& scale, int axis, int64_t block) {
  const ElementType type = TypeOf(context, 0);
  const bool is_byte = x.dtype() == tensor::DType::kInt8 || x.dtype() == tensor::DType::kUInt8;
  if (!is_byte || Rank(x) != 2 || Rank(scale) != 2 || (type.small && type.small->IsFloat())) {
    return std::nullopt;
  }
  std::vector<int64_t> blocks = x.shape();
  blocks[axis] = (x.shape()[axis] + block - 1) / block;
  if (scale.shape() != blocks) return std::nullopt;
  BlockFloats floats{x, scale, std::nullopt, axis, block, 0, 8};
  if (x.dtype() == tensor::DType::kInt8) floats.low = -128;
  if (type.small) {
    floats.low = type.small->Low();
    floats.bits = type.small->bits;
  }
  if (context.HasInput(2)) {
    floats.zeros = context.Input(2);
    if (floats.zeros->shape() != blocks) return std::nullopt;
  }
  return floats;
}

void DequantizeLinear(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), scale = context.Input(1);
  const int axis = QuantizationAxis(context, x);
  const int64_t block = BlockSizeOf(context);
  const tensor::DType dtype = TypeAttribute(context, "output_dtype", scale.dtype()).dtype;
  if (!tensor::IsFloat(dtype)) {
    context.Refuse(fmt::format("an output of {} is not supported", tensor::ToString(dtype)));
  }
  if (block == 0 && dtype == tensor::DType::kFloat32) {
    if (auto sum = DequantizedSum(context, x, scale, axis)) {
      return context.SetOutput(0, WriteFloats(context, "dequantize", *std::move(sum)));
    }
  }
  const tensor::DType centred = tensor::IsFloat(x.dtype()) ? dtype : tensor::DType::kInt32;
  const tensor::Tensor y = context.builder().Map("dequantize", x.shape(), [&](const Exprs& place) {
    const auto at = [&](const tensor::Tensor& parameter) {
      return ParameterAt(context, parameter, place, axis, block, x.shape());
    };
    tensor::Expr level = tensor::Cast(centred, x.At(place));
    if (context.HasInput(2)) level = level - tensor::Cast(centred, at(context.Input(2)));
    return tensor::Cast(dtype, level) * tensor::Cast(dtype, at(scale));
  });
  if (block > 0 && y.dtype() == tensor::DType::kFloat32) {
    if (auto known = DequantizedBlocks(context, x, scale, axis, block)) {
      context.builder().known_floats().Note(y, *std::move(known));
    }
  }
  context.SetOutput(0, y);
}

/// Requantize, where all but the integers is known.
std::optional<tensor::Tensor> RequantizeKnown(OperatorContext& context, const tensor::Tensor& y,
                                              const std::vector<int>& scales, int y_scale,
                                              int y_zero_point, int axis) {
  const tensor::Tensor to = context.Input(y_scale);
  const tensor::HostTensor* zero = context.ConstantInput(y_zero_point);
  if (axis >= Rank(y) || !zero || zero->ElementCount() != 1 || !IsScale(context, to) ||
      CheckedElementCount(to.shape()) != 1) {
    return std::nullopt;
  }
  std::vector<tensor::Tensor> factors;
  for (int input : scales) factors.push_back(context.Input(input));
  const auto scale = ProductOfScales(context, factors, y.shape()[axis], Rank(y) - axis - 1);
  if (!scale) return std::nullopt;
  const ScaledSum sum{.shape = y.shape(), .terms = {{.integers = y, .scale = *scale}}};
  const auto factor = static_cast<float>(context.builder().ConstantOf(to)->Get(0));
  return Quantize(context, sum, {factor, zero->GetInt(0), zero->dtype});
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
  if (const auto quantized = RequantizeKnown(context, y, scales, y_scale, y_zero_point, axis)) {
    return *quantized;
  }
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
