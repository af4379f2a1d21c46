// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/small_types.h"

#include <array>
#include <cmath>
#include <limits>

namespace bayloom::graph {
namespace {

using Specials = SmallType::Specials;
constexpr auto kSignedHolder = tensor::DType::kInt8;
constexpr auto kUnsignedHolder = tensor::DType::kUInt8;
constexpr auto kFloatHolder = tensor::DType::kFloat32;

/// float8e8m0 is a power of two: all bits are the exponent's.
constexpr int kPowersOfTwo = 24;

constexpr std::array<SmallType, 12> kSmallTypes = {{
    {17, "float8e4m3fn", kFloatHolder, 8, true, 3, 7, 448, Specials::kAllOnes},
    {18, "float8e4m3fnuz", kFloatHolder, 8, true, 3, 8, 240, Specials::kMinusZero},
    {19, "float8e5m2", kFloatHolder, 8, true, 2, 15, 57344, Specials::kIeee},
    {20, "float8e5m2fnuz", kFloatHolder, 8, true, 2, 16, 57344, Specials::kMinusZero},
    {21, "uint4", kUnsignedHolder, 4, false},
    {22, "int4", kSignedHolder, 4},
    {23, "float4e2m1", kFloatHolder, 4, true, 1, 1, 6},
    {kPowersOfTwo, "float8e8m0", kFloatHolder, 8, false, 0, 127, 0x1p127, Specials::kAllOnes},
    {25, "uint2", kUnsignedHolder, 2, false},
    {26, "int2", kSignedHolder, 2},
    {27, "float6e2m3", kFloatHolder, 6, true, 3, 1, 7.5},
    {28, "float6e3m2", kFloatHolder, 6, true, 2, 3, 28},
}};

}  // namespace

double SmallType::Decode(uint32_t pattern) const {
  pattern &= (1U << bits) - 1;
  if (!IsFloat()) {
    const int64_t value = pattern;
    return static_cast<double>(is_signed && value > High() ? value - (int64_t{1} << bits) : value);
  }
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (onnx == kPowersOfTwo) return pattern == 0xFF ? kNan : std::ldexp(1, int(pattern) - bias);
  const uint32_t sign_bit = 1U << (bits - 1), magnitude = pattern & (sign_bit - 1);
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const int mantissa = static_cast<int>(magnitude & ((1U << mantissa_bits) - 1));
  if (specials == Specials::kMinusZero && pattern == sign_bit) return kNan;
  if (specials == Specials::kAllOnes && magnitude == sign_bit - 1) return kNan;
  const double sign = (pattern & sign_bit) != 0 ? -1 : 1;
  if (specials == Specials::kIeee && exponent == (1 << (bits - 1 - mantissa_bits)) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : kNan;
  }
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits);
}

const SmallType* FindSmallType(int64_t onnx) {
  for (const SmallType& type : kSmallTypes) {
    if (type.onnx == onnx) return &type;
  }
  return nullptr;
}

tensor::HostTensor UnpackSmall(const SmallType& type, std::span<const std::byte> packed,
                               std::vector<int64_t> shape) {
  std::array<double, 256> values;
  for (uint32_t pattern = 0; pattern < values.size(); ++pattern) {
    values[pattern] = type.Decode(pattern);
  }
  tensor::HostTensor tensor = tensor::HostTensor::Zeros(type.holder, std::move(shape));
  const int64_t count = tensor.ElementCount();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bit = i * type.bits;
    uint32_t pattern = std::to_integer<uint32_t>(packed[bit / 8]);
    if (bit / 8 + 1 < static_cast<int64_t>(packed.size())) {  // 6 bits may lie in two bytes
      pattern |= std::to_integer<uint32_t>(packed[bit / 8 + 1]) << 8;
    }
    tensor.Set(i, values[pattern >> (bit % 8) & ((1U << type.bits) - 1)]);
  }
  return tensor;
}

}  // namespace bayloom::graph
