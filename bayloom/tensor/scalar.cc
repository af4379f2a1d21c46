// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace bayloom::tensor {
namespace {

constexpr int kFractionBits = 52, kBias = 1023;

/// Of a number that is neither subnormal nor 0: e in 1.x * 2^e. Of those: less than any such.
int ExponentOf(double value) {
  return static_cast<int>(std::bit_cast<uint64_t>(value) >> kFractionBits & 2047) - kBias;
}

/// 2^exponent, from the least exponent of a normal number to the greatest.
double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kBias) << kFractionBits);
}

/// Rounds to a binary format of `precision` significant bits, least exponent `quantum_exponent`
/// (of the last place of subnormals) and greatest finite value `max`.
double RoundToFormat(double value, int precision, int quantum_exponent, double max) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(ExponentOf(value) - (precision - 1), quantum_exponent);
  const double rounded = std::nearbyint(value * PowerOfTwo(-exponent)) * PowerOfTwo(exponent);
  if (std::abs(rounded) > max) return std::copysign(HUGE_VAL, value);
  return rounded;
}

template <typename T>
T Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void Write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

double HalfFromBits(uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 31) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * mantissa * 0x1p-24;
  return sign * (mantissa + 1024) * PowerOfTwo(exponent - 25);
}

uint16_t HalfToBits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::abs(RoundTo(DType::kFloat16, value));
  if (std::isinf(magnitude)) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<uint16_t>(magnitude * 0x1p24);
  const int exponent = ExponentOf(magnitude);
  const int mantissa = static_cast<int>(magnitude * PowerOfTwo(10 - exponent)) - 1024;
  return sign | static_cast<uint16_t>(((exponent + 15) << 10) | mantissa);
}

double BFloatFromBits(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t BFloatToBits(double value) {
  if (std::isnan(value)) return 0x7fc0;
  const float rounded = static_cast<float>(RoundTo(DType::kBFloat16, value));
  uint32_t wide;
  std::memcpy(&wide, &rounded, sizeof wide);
  return static_cast<uint16_t>(wide >> 16);
}

bool LessThan(DType dtype, int64_t a, int64_t b) {
  return IsUnsigned(dtype) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

int64_t Divide(ExprOp op, DType dtype, int64_t a, int64_t b) {
  if (b == 0) throw std::domain_error("integer division by zero");
  if (IsUnsigned(dtype)) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    const bool quotient = op == ExprOp::kDiv || op == ExprOp::kFloorDiv;
    return static_cast<int64_t>(quotient ? x / y : x % y);
  }
  if (b == -1) {  // the quotient of the least number overflows
    const bool quotient = op == ExprOp::kDiv || op == ExprOp::kFloorDiv;
    return quotient ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : 0;
  }
  const bool rounds_differ = a % b != 0 && (a < 0) != (b < 0);
  switch (op) {
    case ExprOp::kDiv:
      return a / b;
    case ExprOp::kFloorDiv:
      return a / b - rounds_differ;
    case ExprOp::kMod:
      return a % b;
    default:
      return a % b + (rounds_differ ? b : 0);
  }
}

int64_t Power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 ? -1 : 1;
    if (base == 0) throw std::domain_error("integer division by zero");
    return 0;
  }
  uint64_t result = 1;
  for (auto square = static_cast<uint64_t>(base); exponent; exponent >>= 1, square *= square) {
    if (exponent & 1) result *= square;
  }
  return static_cast<int64_t>(result);
}

int64_t Shift(ExprOp op, DType dtype, int64_t a, int64_t b) {
  const int width = 8 * ByteSize(dtype);
  if (b < 0 || b >= width) {
    return op == ExprOp::kShiftRight && !IsUnsigned(dtype) && a < 0 ? -1 : 0;
  }
  if (op == ExprOp::kShiftLeft) return static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  return IsUnsigned(dtype) ? static_cast<int64_t>(static_cast<uint64_t>(a) >> b) : a >> b;
}

}  // namespace

double RoundTo(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat32:
      return static_cast<float>(value);
    case DType::kFloat16:
      return RoundToFormat(value, 11, -24, 65504);
    case DType::kBFloat16:
      return RoundToFormat(value, 8, -133, 0x1.fep127);
    case DType::kTFloat32:
      return RoundToFormat(value, 11, -136, 0x1.ffcp127);
    default:
      return value;
  }
}

int64_t WrapTo(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::kBool:
      return value != 0;
    case DType::kInt8:
      return static_cast<int8_t>(value);
    case DType::kInt16:
      return static_cast<int16_t>(value);
    case DType::kInt32:
      return static_cast<int32_t>(value);
    case DType::kUInt8:
      return static_cast<uint8_t>(value);
    case DType::kUInt16:
      return static_cast<uint16_t>(value);
    case DType::kUInt32:
      return static_cast<uint32_t>(value);
    default:
      return value;
  }
}

double ApplyFloat(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::kAdd:
      return a + b;
    case ExprOp::kSub:
      return a - b;
    case ExprOp::kMul:
      return a * b;
    case ExprOp::kDiv:
      return a / b;
    case ExprOp::kMod:
      return std::fmod(a, b);
    case ExprOp::kMin:
      return a < b || std::isnan(a) ? a : b;
    case ExprOp::kMax:
      return a > b || std::isnan(a) ? a : b;
    case ExprOp::kPow:
      return std::pow(a, b);
    case ExprOp::kNegate:
      return -a;
    case ExprOp::kAbs:
      return std::abs(a);
    case ExprOp::kSign:
      return std::isnan(a) ? a : (a > 0) - (a < 0);
    case ExprOp::kFloor:
      return std::floor(a);
    case ExprOp::kCeil:
      return std::ceil(a);
    case ExprOp::kRound:
      return std::nearbyint(a);
    case ExprOp::kSqrt:
      return std::sqrt(a);
    case ExprOp::kExp:
      return std::exp(a);
    case ExprOp::kLog:
      return std::log(a);
    case ExprOp::kErf:
      return std::erf(a);
    case ExprOp::kSin:
      return std::sin(a);
    case ExprOp::kCos:
      return std::cos(a);
    case ExprOp::kTan:
      return std::tan(a);
    case ExprOp::kAsin:
      return std::asin(a);
    case ExprOp::kAcos:
      return std::acos(a);
    case ExprOp::kAtan:
      return std::atan(a);
    case ExprOp::kSinh:
      return std::sinh(a);
    case ExprOp::kCosh:
      return std::cosh(a);
    case ExprOp::kTanh:
      return std::tanh(a);
    case ExprOp::kAsinh:
      return std::asinh(a);
    case ExprOp::kAcosh:
      return std::acosh(a);
    case ExprOp::kAtanh:
      return std::atanh(a);
    default:
      throw std::logic_error("not an operation on floats");
  }
}

int64_t ApplyInt(ExprOp op, DType dtype, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case ExprOp::kAdd:
      return WrapTo(dtype, static_cast<int64_t>(x + y));
    case ExprOp::kSub:
      return WrapTo(dtype, static_cast<int64_t>(x - y));
    case ExprOp::kMul:
      return WrapTo(dtype, static_cast<int64_t>(x * y));
    case ExprOp::kDiv:
    case ExprOp::kFloorDiv:
    case ExprOp::kMod:
    case ExprOp::kFloorMod:
      return WrapTo(dtype, Divide(op, dtype, a, b));
    case ExprOp::kMin:
      return LessThan(dtype, a, b) ? a : b;
    case ExprOp::kMax:
      return LessThan(dtype, a, b) ? b : a;
    case ExprOp::kPow:
      return WrapTo(dtype, Power(a, b));
    case ExprOp::kShiftLeft:
    case ExprOp::kShiftRight:
      return WrapTo(dtype, Shift(op, dtype, a, b));
    case ExprOp::kAnd:
      return a & b;
    case ExprOp::kOr:
      return a | b;
    case ExprOp::kXor:
      return a ^ b;
    case ExprOp::kNot:
      return !a;
    case ExprOp::kNegate:
      return WrapTo(dtype, static_cast<int64_t>(0 - x));
    case ExprOp::kAbs:
      return IsUnsigned(dtype) || a >= 0 ? a : WrapTo(dtype, static_cast<int64_t>(0 - x));
    case ExprOp::kSign:
      return IsUnsigned(dtype) ? a != 0 : (a > 0) - (a < 0);
    default:
      throw std::logic_error("not an operation on integers");
  }
}

bool CompareFloat(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::kLess:
      return a < b;
    case ExprOp::kLessEqual:
      return a <= b;
    case ExprOp::kEqual:
      return a == b;
    case ExprOp::kIsNan:
      return std::isnan(a);
    case ExprOp::kIsInf:
      return std::isinf(a);
    default:
      throw std::logic_error("not a predicate on floats");
  }
}

bool CompareInt(ExprOp op, DType dtype, int64_t a, int64_t b) {
  switch (op) {
    case ExprOp::kLess:
      return LessThan(dtype, a, b);
    case ExprOp::kLessEqual:
      return !LessThan(dtype, b, a);
    case ExprOp::kEqual:
      return a == b;
    default:
      throw std::logic_error("not a predicate on integers");
  }
}

int64_t FloatToInt(DType dtype, double value) {
  if (dtype == DType::kBool) return value != 0;
  if (std::isnan(value)) return 0;
  if (IsUnsigned(dtype) && value >= 0x1p63) {
    return WrapTo(
        dtype, static_cast<int64_t>(value >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(value)));
  }
  if (value >= 0x1p63) return WrapTo(dtype, std::numeric_limits<int64_t>::max());
  if (value < -0x1p63) return WrapTo(dtype, std::numeric_limits<int64_t>::min());
  return WrapTo(dtype, static_cast<int64_t>(value));
}

double IntToFloat(DType from, int64_t value) {
  return from == DType::kUInt64 ? static_cast<double>(static_cast<uint64_t>(value))
                                : static_cast<double>(value);
}

double LoadFloat(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kFloat16:
      return HalfFromBits(Read<uint16_t>(at));
    case DType::kBFloat16:
      return BFloatFromBits(Read<uint16_t>(at));
    case DType::kFloat32:
    case DType::kTFloat32:
      return Read<float>(at);
    default:
      return Read<double>(at);
  }
}

int64_t LoadInt(DType dtype, const std::byte* at) {
  switch (ByteSize(dtype)) {
    case 1:
      return WrapTo(dtype, Read<int8_t>(at));
    case 2:
      return WrapTo(dtype, Read<int16_t>(at));
    case 4:
      return WrapTo(dtype, Read<int32_t>(at));
    default:
      return Read<int64_t>(at);
  }
}

void StoreFloat(DType dtype, std::byte* at, double value) {
  switch (dtype) {
    case DType::kFloat16:
      return Write(at, HalfToBits(value));
    case DType::kBFloat16:
      return Write(at, BFloatToBits(value));
    case DType::kFloat32:
      return Write(at, static_cast<float>(value));
    case DType::kTFloat32:
      return Write(at, static_cast<float>(RoundTo(dtype, value)));
    default:
      return Write(at, value);
  }
}

void StoreInt(DType dtype, std::byte* at, int64_t value) {
  switch (ByteSize(dtype)) {
    case 1:
      return Write(at, static_cast<int8_t>(WrapTo(dtype, value)));
    case 2:
      return Write(at, static_cast<int16_t>(value));
    case 4:
      return Write(at, static_cast<int32_t>(value));
    default:
      return Write(at, value);
  }
}

}  // namespace bayloom::tensor
