// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/operation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bayloom::space {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Interval kAnything = {-kInfinity, kInfinity};
constexpr Interval kTrueOrFalse = {0, 1};

double Modulo(double a, double b) {
  if (b == 0) return kNan;
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Bits are those of whole numbers that doubles hold exactly.
bool HasBits(double number) { return std::abs(number) < 0x1p53 && number == std::floor(number); }

double ApplyToBits(Operation operation, double a, double b) {
  if (!HasBits(a) || !HasBits(b)) return kNan;
  const auto x = static_cast<int64_t>(a);
  const auto y = static_cast<int64_t>(b);
  switch (operation) {
    case Operation::kBitAnd:
      return static_cast<double>(x & y);
    case Operation::kBitOr:
      return static_cast<double>(x | y);
    case Operation::kBitXor:
      return static_cast<double>(x ^ y);
    case Operation::kShiftLeft:
      return y < 0 || y > 1023 ? kNan : std::ldexp(a, static_cast<int>(y));
    case Operation::kShiftRight:
      return y < 0 || y > 1023 ? kNan : std::floor(std::ldexp(a, -static_cast<int>(y)));
    default:
      return static_cast<double>(std::gcd(x, y));
  }
}

bool IsBounded(const Interval& x) { return std::isfinite(x.low) && std::isfinite(x.high); }

/// The library's transcendental functions are neither exact nor monotone to the last bit.
Interval Widened(double low, double high) {
  constexpr double kSlack = 1e-12;
  return {low - std::abs(low) * kSlack, high + std::abs(high) * kSlack};
}

template <typename Function>
Interval HullOfCorners(const Interval& a, const Interval& b, Function f) {
  const double corners[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high};
}

Interval ModuloOf(const Interval& a, const Interval& b) {
  if (b.high < 0) return {b.low, 0};
  if (b.low <= 0) return kAnything;
  if (a.low < 0) return {0, b.high};
  return a.high < b.low ? a : Interval{0, std::min(a.high, b.high)};
}

Interval CompareIntervals(Operation operation, const Interval& a, const Interval& b) {
  const bool apart = a.high < b.low || b.high < a.low;
  switch (operation) {
    case Operation::kEqual:
      return apart ? Interval::Point(0) : kTrueOrFalse;
    case Operation::kNotEqual:
      return apart ? Interval::Point(1) : kTrueOrFalse;
    case Operation::kLess:
      if (a.high < b.low) return Interval::Point(1);
      return a.low >= b.high ? Interval::Point(0) : kTrueOrFalse;
    default:
      if (a.high <= b.low) return Interval::Point(1);
      return a.low > b.high ? Interval::Point(0) : kTrueOrFalse;
  }
}

Interval ApplyToOne(Operation operation, const Interval& a) {
  switch (operation) {
    case Operation::kNegate:
      return {-a.high, -a.low};
    case Operation::kAbs:
      if (a.low >= 0) return a;
      return {a.high < 0 ? -a.high : 0, std::max(-a.low, a.high)};
    case Operation::kFloor:
    case Operation::kCeil:
    case Operation::kRound:
    case Operation::kTruncate:
      return {Apply(operation, a.low), Apply(operation, a.high)};
    case Operation::kSqrt:
      return a.low < 0 ? kAnything : Interval{std::sqrt(a.low), std::sqrt(a.high)};
    case Operation::kLog:
    case Operation::kLog2:
      return a.low <= 0 ? kAnything : Widened(Apply(operation, a.low), Apply(operation, a.high));
    case Operation::kExp:
      return Widened(std::exp(a.low), std::exp(a.high));
    default:
      return kAnything;
  }
}

Interval ApplyToTwo(Operation operation, const Interval& a, const Interval& b) {
  switch (operation) {
    case Operation::kAdd:
      return {a.low + b.low, a.high + b.high};
    case Operation::kSubtract:
      return {a.low - b.high, a.high - b.low};
    case Operation::kMultiply:
      return HullOfCorners(a, b, std::multiplies<>());
    case Operation::kDivide:
      return b.low <= 0 && b.high >= 0 ? kAnything : HullOfCorners(a, b, std::divides<>());
    case Operation::kFloorDivide: {
      if (b.low <= 0 && b.high >= 0) return kAnything;
      const Interval quotients = HullOfCorners(a, b, std::divides<>());
      const Interval wide = Widened(quotients.low, quotients.high);
      return {std::floor(wide.low), std::floor(wide.high)};
    }
    case Operation::kModulo:
      return ModuloOf(a, b);
    case Operation::kPower: {
      if (a.low <= 0) return kAnything;
      const Interval hull = HullOfCorners(a, b, [](double x, double y) { return std::pow(x, y); });
      return Widened(hull.low, hull.high);
    }
    case Operation::kMin:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Operation::kMax:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return kAnything;
  }
}

Interval SelectOf(const Interval& condition, const Interval& yes, const Interval& no) {
  if (condition.IsTrue()) return yes;
  if (condition.IsFalse()) return no;
  if (!IsBounded(yes) || !IsBounded(no)) return kAnything;
  return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
}

int OperandCount(Operation operation) {
  if (operation == Operation::kSelect) return 3;
  const bool one = (operation >= Operation::kNegate && operation <= Operation::kBitNot) ||
                   operation == Operation::kNot;
  return one ? 1 : 2;
}

}  // namespace

double Apply(Operation operation, double a, double b, double c) {
  switch (operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kSubtract:
      return a - b;
    case Operation::kMultiply:
      return a * b;
    case Operation::kDivide:
      return b == 0 ? kNan : a / b;
    case Operation::kFloorDivide:
      return std::round((a - Modulo(a, b)) / b);
    case Operation::kModulo:
      return Modulo(a, b);
    case Operation::kPower:
      return std::pow(a, b);
    case Operation::kMin:
      return a != a || b != b ? kNan : std::min(a, b);
    case Operation::kMax:
      return a != a || b != b ? kNan : std::max(a, b);
    case Operation::kNegate:
      return -a;
    case Operation::kAbs:
      return std::abs(a);
    case Operation::kFloor:
      return std::floor(a);
    case Operation::kCeil:
      return std::ceil(a);
    case Operation::kRound:
      return std::nearbyint(a);  // halves to even, as in Python
    case Operation::kTruncate:
      return std::trunc(a);
    case Operation::kSqrt:
      return std::sqrt(a);
    case Operation::kLog:
      return a > 0 ? std::log(a) : kNan;
    case Operation::kLog2:
      return a > 0 ? std::log2(a) : kNan;
    case Operation::kExp:
      return std::exp(a);
    case Operation::kBitNot:
      return HasBits(a) ? -a - 1 : kNan;
    case Operation::kEqual:
      return a == b;
    case Operation::kNotEqual:
      return a < b || a > b;
    case Operation::kLess:
      return a < b;
    case Operation::kLessEqual:
      return a <= b;
    case Operation::kAnd:
      return std::min(a, b);
    case Operation::kOr:
      return std::max(a, b);
    case Operation::kNot:
      return 1 - a;
    case Operation::kSelect:
      return a != 0 ? b : c;
    default:
      return ApplyToBits(operation, a, b);
  }
}

Interval Apply(Operation operation, const Interval& a, const Interval& b, const Interval& c) {
  const int operands = OperandCount(operation);
  if (a.IsPoint() && (operands < 2 || b.IsPoint()) && (operands < 3 || c.IsPoint())) {
    return Interval::Point(Apply(operation, a.low, b.low, c.low));
  }
  switch (operation) {
    case Operation::kAnd:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Operation::kOr:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Operation::kNot:
      return {1 - a.high, 1 - a.low};
    case Operation::kSelect:
      return SelectOf(a, b, c);
    case Operation::kEqual:
    case Operation::kNotEqual:
    case Operation::kLess:
    case Operation::kLessEqual:
      return IsBounded(a) && IsBounded(b) ? CompareIntervals(operation, a, b) : kTrueOrFalse;
    default:
      if (operands == 1) return IsBounded(a) ? ApplyToOne(operation, a) : kAnything;
      return IsBounded(a) && IsBounded(b) ? ApplyToTwo(operation, a, b) : kAnything;
  }
}

bool IsAssociative(Operation operation) {
  switch (operation) {
    case Operation::kAdd:
    case Operation::kMultiply:
    case Operation::kMin:
    case Operation::kMax:
    case Operation::kAnd:
    case Operation::kOr:
      return true;
    default:
      return false;
  }
}

}  // namespace bayloom::space
