// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/space/propagation.h"

namespace bayloom::space {
namespace {

constexpr double kUnbounded = NumberSet::kInfinity;
/// The library's transcendental functions are not exact to the last bit.
constexpr double kRelativeSlack = 1e-12;

/// Whole numbers beyond are no doubles, and have no residues.
bool IsExact(double value) { return std::abs(value) <= 0x1p53; }

NumberSet Truth(double low, double high) { return NumberSet::Between(low, high, true); }

NumberSet Loosened(double low, double high, bool whole = false) {
  return NumberSet::Between(low - std::abs(low) * kRelativeSlack,
                            high + std::abs(high) * kRelativeSlack, whole);
}

/// Whether a comparison may hold. That it must is never said: an operand may still turn out to have
/// no value.
NumberSet CompareSets(Operation operation, const NumberSet& a, const NumberSet& b) {
  NumberSet common = a;
  bool may_hold = true;
  if (operation == Operation::kEqual) may_hold = common.Intersect(b);
  if (operation == Operation::kLess) may_hold = a.low < b.high;
  if (operation == Operation::kLessEqual) may_hold = a.low <= b.high;
  return Truth(0, may_hold ? 1 : 0);
}

NumberSet ModuloSet(const NumberSet& a, const NumberSet& b) {
  if (!(b.low > 0)) return NumberSet::Between(-kUnbounded, kUnbounded, a.whole && b.whole);
  const bool whole = a.whole && b.whole;
  NumberSet rest = NumberSet::Between(0, whole ? b.high - 1 : b.high, whole);
  if (a.low >= 0) rest.high = std::min(rest.high, a.high);
  if (a.low >= 0 && a.high < b.low) rest = a;
  if (whole && b.IsPoint() && IsExact(b.low)) {
    // a = r (mod m) leaves r modulo the common divisor of m and b.
    const auto divisor = static_cast<int64_t>(b.low);
    const int64_t common = std::gcd(a.modulus, divisor);
    if (!rest.Intersect(NumberSet::Congruent(common, a.residue))) return Truth(0, 0);
  }
  return rest;
}

NumberSet PowerSet(const NumberSet& a, const NumberSet& b) {
  const bool whole = a.whole && b.whole && b.low >= 0;
  if (a.low < 0 || (a.low == 0 && b.low < 0))
    return NumberSet::Between(-kUnbounded, kUnbounded, whole);
  const double corners[] = {std::pow(a.low, b.low), std::pow(a.low, b.high),
                            std::pow(a.high, b.low), std::pow(a.high, b.high)};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return Loosened(*low, *high, whole);
}

NumberSet ForwardOfOne(Operation operation, const NumberSet& a) {
  const auto at_ends = [&](bool whole) {
    return NumberSet::Between(Apply(operation, a.low), Apply(operation, a.high), whole);
  };
  switch (operation) {
    case Operation::kNegate:
      return -a;
    case Operation::kAbs:
      if (a.low >= 0) return a;
      return NumberSet::Between(a.high < 0 ? -a.high : 0, std::max(-a.low, a.high), a.whole);
    case Operation::kFloor:
    case Operation::kCeil:
    case Operation::kRound:
    case Operation::kTruncate:
      return a.whole ? a : at_ends(true);
    case Operation::kSqrt:
      return NumberSet::Between(std::sqrt(std::max(0.0, a.low)), std::sqrt(std::max(0.0, a.high)),
                                false);
    case Operation::kLog:
    case Operation::kLog2:
      if (!(a.low > 0)) return NumberSet::Between(-kUnbounded, kUnbounded, false);
      return Loosened(Apply(operation, a.low), Apply(operation, a.high));
    case Operation::kExp:
      return Loosened(std::exp(a.low), std::exp(a.high));
    case Operation::kBitNot:
      return NumberSet::Between(-a.high - 1, -a.low - 1, true);
    default:
      return {};
  }
}

NumberSet FloorDivideSet(const NumberSet& a, const NumberSet& b) {
  NumberSet quotient = NumberSet::Between(-kUnbounded, kUnbounded, true);
  if (!(b.low > 0)) return quotient;
  quotient.low = std::floor(a.low >= 0 ? a.low / b.high : a.low / b.low);
  quotient.high = std::floor(a.high >= 0 ? a.high / b.low : a.high / b.high);
  return quotient;
}

/// Numbers from a / b: those x of which x * b can be in a.
NumberSet QuotientSet(const NumberSet& a, const NumberSet& b) {
  return b.low > 0 || b.high < 0 ? FactorsOf(a, b) : NumberSet();
}

bool NarrowProduct(const NumberSet& result, NumberSet& a, NumberSet& b) {
  const bool whole = result.whole && a.whole && b.whole;
  for (int side = 0; side < 2; ++side) {
    NumberSet& own = side == 0 ? a : b;
    const NumberSet& other = side == 0 ? b : a;
    if (!own.Intersect(FactorsOf(result, other))) return false;
    if (whole && !WholeFactorsOf(result, other, own)) return false;
  }
  return true;
}

/// a % b = result.
bool NarrowModulo(const NumberSet& result, NumberSet& a, NumberSet& b) {
  if (!(b.low >= 0) || !a.whole || !b.whole || !result.whole) return true;
  // The rest is below the divisor.
  if (!b.Intersect(NumberSet::Between(std::max(result.low, 0.0) + 1, kUnbounded, true)))
    return false;
  if (b.IsPoint() && IsExact(b.low)) {
    const auto divisor = static_cast<int64_t>(b.low);
    const int64_t modulus = result.IsPoint() ? divisor : std::gcd(result.modulus, divisor);
    const auto rest = result.IsPoint() ? static_cast<int64_t>(result.low) : result.residue;
    if (!a.Intersect(NumberSet::Congruent(modulus, rest))) return false;
  }
  if (!result.IsPoint()) return true;
  // What is above the rest is at least one divisor above it.
  if (a.low > result.low) {
    if (!a.Intersect(NumberSet::Between(result.low + b.low, kUnbounded, true))) return false;
    if (!b.Intersect(NumberSet::Between(1, a.high - result.low, true))) return false;
  }
  if (a.IsPoint() && IsExact(a.low) && a.low != result.low) {
    return b.Intersect(NumberSet::DivisorsOf(static_cast<int64_t>(a.low - result.low)));
  }
  return true;
}

/// a // b = result.
bool NarrowFloorQuotient(const NumberSet& result, NumberSet& a, NumberSet& b) {
  if (!(b.low > 0 && result.low >= 0)) return true;
  const double rest = a.whole && b.whole ? b.high - 1 : b.high;
  if (!a.Intersect(NumberSet::Between(result.low * b.low, result.high * b.high + rest, false))) {
    return false;
  }
  if (!(a.low >= 0)) return true;
  NumberSet divisors = NumberSet::Between(a.low / (result.high + 1), kUnbounded, false);
  if (result.low > 0) divisors.high = a.high / result.low;
  return b.Intersect(divisors);
}

bool NarrowComparison(Operation operation, NumberSet& a, NumberSet& b) {
  const double apart = a.whole && b.whole ? 1 : 0;
  switch (operation) {
    case Operation::kEqual:
      return a.Intersect(b) && b.Intersect(a);
    case Operation::kLess:
      return a.Intersect(NumberSet::Between(-kUnbounded, b.high - apart, false)) &&
             b.Intersect(NumberSet::Between(a.low + apart, kUnbounded, false));
    case Operation::kLessEqual:
      return a.Intersect(NumberSet::Between(-kUnbounded, b.high, false)) &&
             b.Intersect(NumberSet::Between(a.low, kUnbounded, false));
    default:
      return !(a.IsPoint() && b.IsPoint() && a.low == b.low);
  }
}

/// Truth values: what is left for one operand when the other does not decide.
bool NarrowLogic(Operation operation, const NumberSet& result, NumberSet& a, NumberSet& b) {
  if (!result.IsPoint()) return true;
  const double neutral = operation == Operation::kAnd ? 1 : 0;
  if (result.low == neutral) {
    return a.Intersect(NumberSet::Point(neutral)) && b.Intersect(NumberSet::Point(neutral));
  }
  if (a.IsPoint() && a.low == neutral) return b.Intersect(result);
  if (b.IsPoint() && b.low == neutral) return a.Intersect(result);
  return true;
}

bool NarrowOne(Operation operation, const NumberSet& result, NumberSet& a) {
  const auto keep = [&](double low, double high) {
    return a.Intersect(NumberSet::Between(low - std::abs(low) * kRelativeSlack,
                                          high + std::abs(high) * kRelativeSlack, false));
  };
  switch (operation) {
    case Operation::kNegate:
      return a.Intersect(-result);
    case Operation::kNot:
      return a.Intersect(Truth(1 - result.high, 1 - result.low));
    case Operation::kAbs:
      return a.low >= 0 ? a.Intersect(result) : keep(-result.high, result.high);
    case Operation::kFloor:
    case Operation::kCeil:
    case Operation::kRound:
    case Operation::kTruncate:
      return a.whole ? a.Intersect(result) : keep(result.low - 1, result.high + 1);
    case Operation::kSqrt:
      return keep(result.low > 0 ? result.low * result.low : 0, result.high * result.high);
    case Operation::kLog:
      return keep(std::exp(result.low), std::exp(result.high));
    case Operation::kLog2:
      return keep(std::exp2(result.low), std::exp2(result.high));
    case Operation::kExp:
      return !(result.high > 0)
                 ? false
                 : keep(result.low > 0 ? std::log(result.low) : -kUnbounded, std::log(result.high));
    default:
      return true;
  }
}

/// min(a, b) or max(a, b).
bool NarrowExtreme(bool is_min, const NumberSet& result, NumberSet& a, NumberSet& b) {
  const NumberSet within = is_min ? NumberSet::Between(result.low, kUnbounded, false)
                                  : NumberSet::Between(-kUnbounded, result.high, false);
  if (!a.Intersect(within) || !b.Intersect(within)) return false;
  const bool not_a = is_min ? a.low > result.high : a.high < result.low;
  const bool not_b = is_min ? b.low > result.high : b.high < result.low;
  if (not_a && not_b) return false;
  if (not_a) return b.Intersect(result);
  if (not_b) return a.Intersect(result);
  return true;
}

bool NarrowPower(const NumberSet& result, NumberSet& a, NumberSet& b) {
  if (b.IsPoint() && b.low > 0 && a.low >= 0) {
    const NumberSet bases = Loosened(std::pow(std::max(0.0, result.low), 1 / b.low),
                                     std::pow(std::max(0.0, result.high), 1 / b.low));
    if (!a.Intersect(bases)) return false;
  }
  if (a.IsPoint() && a.low > 1 && result.low > 0) {
    const double base = std::log(a.low);
    return b.Intersect(Loosened(std::log(result.low) / base, std::log(result.high) / base));
  }
  return true;
}

}  // namespace

NumberSet ForwardSet(Operation operation, const NumberSet& a, const NumberSet& b,
                     const NumberSet& c) {
  switch (operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kSubtract:
      return a - b;
    case Operation::kMultiply:
      return a * b;
    case Operation::kDivide:
      return QuotientSet(a, b);
    case Operation::kFloorDivide:
      return FloorDivideSet(a, b);
    case Operation::kModulo:
      return ModuloSet(a, b);
    case Operation::kPower:
      return PowerSet(a, b);
    case Operation::kMin:
      return NumberSet::Between(std::min(a.low, b.low), std::min(a.high, b.high),
                                a.whole && b.whole);
    case Operation::kMax:
      return NumberSet::Between(std::max(a.low, b.low), std::max(a.high, b.high),
                                a.whole && b.whole);
    case Operation::kGcd:
    case Operation::kBitAnd:
    case Operation::kBitOr:
    case Operation::kBitXor:
    case Operation::kShiftLeft:
    case Operation::kShiftRight:
      return NumberSet::Between(-kUnbounded, kUnbounded, true);
    case Operation::kEqual:
    case Operation::kNotEqual:
    case Operation::kLess:
    case Operation::kLessEqual:
      return CompareSets(operation, a, b);
    case Operation::kAnd:
      return Truth(std::min(a.low, b.low), std::min(a.high, b.high));
    case Operation::kOr:
      return Truth(std::max(a.low, b.low), std::max(a.high, b.high));
    case Operation::kNot:
      return Truth(1 - a.high, 1 - a.low);
    case Operation::kSelect:
      if (a.IsTrue()) return b;
      if (a.IsFalse()) return c;
      return NumberSet::Between(std::min(b.low, c.low), std::max(b.high, c.high),
                                b.whole && c.whole);
    default:
      return ForwardOfOne(operation, a);
  }
}

bool NarrowOperands(Operation operation, const NumberSet& result, NumberSet& a, NumberSet& b,
                    NumberSet& c) {
  switch (operation) {
    case Operation::kAdd:
      return a.Intersect(result - b) && b.Intersect(result - a);
    case Operation::kSubtract:
      return a.Intersect(result + b) && b.Intersect(a - result);
    case Operation::kMultiply:
      return NarrowProduct(result, a, b);
    case Operation::kDivide:
      return a.Intersect(result * b) && b.Intersect(QuotientSet(a, result));
    case Operation::kFloorDivide:
      return NarrowFloorQuotient(result, a, b);
    case Operation::kModulo:
      return NarrowModulo(result, a, b);
    case Operation::kPower:
      return NarrowPower(result, a, b);
    case Operation::kMin:
    case Operation::kMax:
      return NarrowExtreme(operation == Operation::kMin, result, a, b);
    case Operation::kEqual:
    case Operation::kNotEqual:
    case Operation::kLess:
    case Operation::kLessEqual:
      return !result.IsTrue() || NarrowComparison(operation, a, b);
    case Operation::kAnd:
    case Operation::kOr:
      return NarrowLogic(operation, result, a, b);
    case Operation::kSelect:
      if (a.IsTrue()) return b.Intersect(result);
      if (a.IsFalse()) return c.Intersect(result);
      return true;
    default:
      return NarrowOne(operation, result, a);
  }
}

}  // namespace bayloom::space
