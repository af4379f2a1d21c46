// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/float_range.h"

#include <algorithm>
#include <cmath>

namespace bayloom::codegen {
namespace {

FloatRange RangeOfIntegers(tensor::DType dtype) {
  if (dtype == tensor::DType::kBool) return {0, 1};
  const int bits = 8 * tensor::ByteSize(dtype);
  if (tensor::IsUnsigned(dtype)) return {0, std::ldexp(1.0, bits)};
  return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1)};
}

}  // namespace

bool FloatRange::FitsInt32() const {
  constexpr double kLargestFloat = 0x1.fffffep30;
  return min >= -0x1p31 && max <= kLargestFloat;
}

FloatRange FloatRangeOf(const tensor::Expr& e) {
  const auto operand = [&](size_t i) { return FloatRangeOf(e->operands[i]); };
  switch (e->op) {
    case tensor::ExprOp::kFloat:
      if (std::isnan(e->float_value)) return {};
      return {e->float_value, e->float_value};
    case tensor::ExprOp::kMin: {
      const FloatRange a = operand(0), b = operand(1);
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    }
    case tensor::ExprOp::kMax: {
      const FloatRange a = operand(0), b = operand(1);
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    }
    case tensor::ExprOp::kSelect: {
      const FloatRange a = operand(1), b = operand(2);
      return {std::min(a.min, b.min), std::max(a.max, b.max)};
    }
    case tensor::ExprOp::kRound:
    case tensor::ExprOp::kFloor:
    case tensor::ExprOp::kCeil: {
      const FloatRange a = operand(0);
      return {std::floor(a.min), std::ceil(a.max)};
    }
    case tensor::ExprOp::kCast: {
      const tensor::DType from = e->operands[0]->dtype;
      if (!tensor::IsFloat(from)) return RangeOfIntegers(from);
      // A narrower type may round to something larger.
      return tensor::ByteSize(e->dtype) > tensor::ByteSize(from) ? operand(0) : FloatRange{};
    }
    default:
      return {};
  }
}

}  // namespace bayloom::codegen
