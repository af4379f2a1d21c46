// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

namespace bayloom::space {

/// What constraints compute with. Truth values are 0 and 1.
enum class Operation : uint8_t {
  kConstant,
  kTerm,  ///< something read off a parameter's value
  // Of two numbers.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kMin,
  kMax,
  kGcd,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  // Of one number.
  kNegate,
  kAbs,
  kFloor,
  kCeil,
  kRound,
  kTruncate,
  kSqrt,
  kLog,
  kLog2,
  kExp,
  kBitNot,
  // Comparisons: truth values of two numbers.
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  // Of truth values.
  kAnd,
  kOr,
  kNot,
  // Others.
  kSelect,  ///< a truth value, what if true, what if false
  kIn,      ///< whether a number is in a fixed set
  kCode,    ///< a C++ function of parameters' values
};

/// Numbers as in Python: `/` divides exactly, `//` and `%` round towards minus infinity. What has
/// no value (dividing by zero, bits of a fraction, ...) is NaN, and comparisons with it are false,
/// `!=` included. Not for kConstant, kTerm, kIn and kCode.
double Apply(Operation operation, double a, double b = 0, double c = 0);

/// Whether operands may be grouped, and taken in any order.
bool IsAssociative(Operation operation);

/// All numbers between two ends; both NaN, if the one value is that.
///
/// An interval with an infinite end may stand for NaN as well. Of intervals in, operations make an
/// interval that holds the results for all values; narrower ones in, never a wider one out.
struct Interval {
  double low = 0;
  double high = 0;

  static constexpr Interval Point(double value) { return {value, value}; }
  bool IsPoint() const { return low == high || low != low; }
  bool IsTrue() const { return low == 1; }
  bool IsFalse() const { return high == 0; }
};

Interval Apply(Operation operation, const Interval& a, const Interval& b, const Interval& c);

}  // namespace bayloom::space
