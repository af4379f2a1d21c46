// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/small_rounding.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/onnx_tensor.h"

namespace bayloom::graph {

ElementType ElementTypeFromOnnx(int64_t number) {
  if (const SmallType* small = FindSmallType(number)) return {small->holder, small};
  return {DTypeFromOnnx(number > 0 && number < 1000 ? static_cast<int>(number) : 0)};
}

ElementType TypeOf(OperatorContext& context, int input) {
  return {context.Input(input).dtype(), context.SmallTypeOf(input)};
}

tensor::Expr RoundToFloat(const SmallType& type, const tensor::Expr& x, bool saturate) {
  if (type.mantissa_bits == 0) {
    throw InputError(fmt::format("rounding to {} is not supported", type.name));
  }
  const bool is_double = x->dtype == tensor::DType::kFloat64;
  const tensor::Expr wide = is_double ? x : tensor::Cast(tensor::DType::kFloat32, x);
  const auto literal = [&](double value) { return LiteralLike(value, wide); };
  const tensor::Expr magnitude = tensor::Unary(tensor::ExprOp::kAbs, wide);
  // The distance of neighbouring values is a power of two for each exponent.
  const int first = 1 - type.bias, last = static_cast<int>(std::floor(std::log2(type.largest)));
  tensor::Expr step = literal(std::ldexp(1, first - type.mantissa_bits));
  for (int exponent = first + 1; exponent <= last; ++exponent) {
    step = tensor::Select(magnitude < literal(std::ldexp(1, exponent)), step,
                          literal(std::ldexp(1, exponent - type.mantissa_bits)));
  }
  const tensor::Expr rounded = tensor::Unary(tensor::ExprOp::kRound, magnitude / step) * step;
  const bool has_infinity = type.specials == SmallType::Specials::kIeee;
  const double beyond = saturate || type.specials == SmallType::Specials::kNone ? type.largest
                        : has_infinity ? std::numeric_limits<double>::infinity()
                                       : std::numeric_limits<double>::quiet_NaN();
  const tensor::Expr bounded =
      tensor::Select(literal(type.largest) < rounded, literal(beyond), rounded);
  return tensor::Cast(type.holder, tensor::Select(wide < literal(0), -bounded, bounded));
}

tensor::Expr CastToSmall(const SmallType& type, const tensor::Expr& x, bool saturate) {
  if (type.IsFloat()) return RoundToFloat(type, x, saturate);
  const tensor::Expr wide = tensor::Cast(tensor::DType::kInt64, x);
  const tensor::Expr low = type.Low(), range = type.High() - type.Low() + 1;
  return tensor::Cast(type.holder, tensor::FloorMod(wide - low, range) + low);
}

}  // namespace bayloom::graph
