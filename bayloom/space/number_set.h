// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bayloom::space {

/// What constraints leave of a number: an interval, and of whole numbers a residue class, a
/// dividend that they divide, and a list that they are in. An over-approximation: every number
/// that can occur is in the set, not every number of the set can occur.
///
/// A set whose ends are NaN stands for a value that is NaN.
struct NumberSet {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  double low = -kInfinity;
  double high = kInfinity;
  bool whole = false;
  /// Of whole numbers: those that are `residue` modulo `modulus`, 0 <= residue < modulus.
  int64_t modulus = 1;
  int64_t residue = 0;
  /// Of whole numbers: those that divide it; 0: all.
  int64_t dividend = 0;
  /// Those that occur in this ascending list; null: all.
  const std::vector<double>* list = nullptr;

  static NumberSet Point(double value);
  static NumberSet Between(double low, double high, bool whole);
  /// Whole numbers x with x = residue (mod modulus); modulus 0: the residue alone.
  static NumberSet Congruent(int64_t modulus, int64_t residue);
  /// Whole numbers that divide `dividend`, which is not 0.
  static NumberSet DivisorsOf(int64_t dividend);

  bool IsPoint() const { return low == high || low != low; }
  bool IsNan() const { return low != low; }
  bool IsTrue() const { return low == 1; }
  bool IsFalse() const { return high == 0; }
  bool Contains(double value) const;

  /// Keeps what is in the other set, too. False if nothing is.
  bool Intersect(const NumberSet& other);

 private:
  bool Tighten();
};

/// Sets around the results for all numbers of the operands.
NumberSet operator+(const NumberSet& a, const NumberSet& b);
NumberSet operator-(const NumberSet& a, const NumberSet& b);
NumberSet operator-(const NumberSet& a);
NumberSet operator*(const NumberSet& a, const NumberSet& b);
/// Numbers x for which x * b can be in a.
NumberSet FactorsOf(const NumberSet& a, const NumberSet& b);
/// Intersects `factors` with the whole numbers x for which x * b can be in a, a set of whole
/// numbers as is b. False if there is none.
bool WholeFactorsOf(const NumberSet& a, const NumberSet& b, NumberSet& factors);

/// The members of a set, where they can be counted: by position, ascending.
class Members {
 public:
  /// Members of an infinite set that is not a list are none; of a dividend above kMaxDividend, the
  /// whole numbers whether or not they divide it.
  explicit Members(const NumberSet& set);
  explicit Members(std::vector<double> list)
      : is_list_(true), list_(std::move(list)), count_(static_cast<double>(list_.size())) {}

  static constexpr int64_t kMaxDividend = 1'000'000'000'000;

  double count() const { return count_; }
  double At(double position) const {
    return is_list_ ? list_[static_cast<size_t>(position)] : first_ + position * step_;
  }
  /// The position of the first member that is not below `value`; count() if there is none.
  double PositionFrom(double value) const;
  /// The member nearest to `value`. There must be one.
  double Nearest(double value) const;

 private:
  bool is_list_ = false;
  std::vector<double> list_;
  double first_ = 0, step_ = 1;
  double count_ = 0;
};

}  // namespace bayloom::space
