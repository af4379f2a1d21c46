// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "bayloom/graph/unrolled_steps.h"

namespace bayloom::graph {

/// Parts of operators that are there for some lengths and not for others: the borders of a padding
/// that are 0 elements wide for some, a resizing to the size that an image has already. Once an
/// import has one that another does not have, all imports write it.
class OptionalParts {
 public:
  /// Of a part, by a name of its own, that `is_there` in this import: whether it was not there in
  /// another one, or the other way round.
  bool IsOptional(const std::string& part, bool is_there) {
    const auto [known, is_new] = parts_.emplace(part, Part{is_there});
    if (!is_new && known->second.is_there != is_there && !known->second.is_optional) {
      known->second.is_optional = has_new_ = true;
    }
    return known->second.is_optional;
  }

  /// Whether one was found to be optional since the last time that this was asked: imports before
  /// are other networks.
  bool TakeNew() { return std::exchange(has_new_, false); }

 private:
  struct Part {
    bool is_there;
    bool is_optional = false;
  };
  std::map<std::string, Part> parts_;
  bool has_new_ = false;
};

/// Floats that are known in each import, and are others in other imports. Those that are lengths,
/// or one divided by a length, may be written in an expression, where they are found again; others,
/// such as ratios, have to be read from what computes them.
class ScalarOperands {
 public:
  /// Of an operand, by a name of its own, that has this value in this import: whether it may be
  /// written. `is_folded`: the expression has no other operands, so that it becomes one number.
  bool MayBeWritten(const std::string& operand, double value, bool is_folded) {
    const auto [known, is_new] = operands_.emplace(operand, Operand{value});
    Operand& scalar = known->second;
    const Operand before = scalar;
    scalar.varies |= scalar.first != value;
    scalar.are_integers &= std::trunc(value) == value;
    const double divisor = std::round(1 / value);
    scalar.are_reciprocals &=
        std::abs(1 / value - divisor) < 1e-5 * std::abs(divisor) && divisor != 0;
    const bool may_be = scalar.MayBeWritten(is_folded);
    has_new_ |= !is_new && may_be != before.MayBeWritten(is_folded);
    return may_be;
  }

  /// As OptionalParts::TakeNew.
  bool TakeNew() { return std::exchange(has_new_, false); }

 private:
  struct Operand {
    double first;
    bool varies = false, are_integers = true, are_reciprocals = true;

    bool MayBeWritten(bool is_folded) const {
      return !varies || (!is_folded && (are_integers || are_reciprocals));
    }
  };
  std::map<std::string, Operand> operands_;
  bool has_new_ = false;
};

/// Lengths that operators read from an input and that are known in each import. Those that follow
/// the lengths of others in a way that no expression of lengths says, such as by ratios of rounded
/// floats, are found when the network runs, as lengths are that depend on data.
class ComputedLengths {
 public:
  /// Of a length, by a name of its own, that is known in this import: whether it is found.
  bool IsFound(const std::string& name, int64_t length) {
    Range& range = ranges_.emplace(name, Range{length, length}).first->second;
    range.smallest = std::min(range.smallest, length);
    range.largest = std::max(range.largest, length);
    return range.is_found;
  }
  int64_t SmallestOf(const std::string& name) const { return ranges_.at(name).smallest; }
  int64_t LargestOf(const std::string& name) const { return ranges_.at(name).largest; }

  /// Whether lengths whose names begin so are others in other imports, and are not found yet.
  bool MayFind(const std::string& beginning) const {
    return std::ranges::any_of(ranges_, [&](const auto& e) { return Is(beginning, e); });
  }
  /// Has these found from now on.
  void Find(const std::string& beginning) {
    for (auto& entry : ranges_) entry.second.is_found |= Is(beginning, entry);
  }

 private:
  struct Range {
    int64_t smallest, largest;
    bool is_found = false;
  };
  static bool Is(const std::string& beginning, const std::pair<const std::string, Range>& entry) {
    const Range& range = entry.second;
    return entry.first.starts_with(beginning) && !range.is_found && range.smallest < range.largest;
  }

  std::map<std::string, Range> ranges_;
};

/// What imports of one model for several lengths tell each other, so that they are one network.
struct ComparedImports {
  UnrolledSteps steps;
  OptionalParts parts;
  ScalarOperands scalars;
  ComputedLengths lengths;

  /// Whether imports before the last ones are other networks.
  bool TakeNew() {
    const bool has_parts = parts.TakeNew(), has_scalars = scalars.TakeNew();
    return has_parts || has_scalars;
  }
};

}  // namespace bayloom::graph
