// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Value.h>

#include <cstdint>
#include <vector>

#include "bayloom/tensor/access.h"

namespace bayloom::codegen {

/// What a digit is at the place where code is being emitted:
///
///     scale * base + offset + lanes[l]      in lane l
///
/// `base` is a loop's running value (or absent), `offset` comes from unrolling, `lanes` from
/// vectorization (absent: the same in all lanes).
struct DigitValue {
  bool bound = false;
  llvm::Value* base = nullptr;
  int64_t scale = 1;
  int64_t reach = 0;  ///< the greatest value of scale * base; the least is 0
  int64_t offset = 0;
  const std::vector<int64_t>* lanes = nullptr;

  static DigitValue Constant(int64_t value) { return {true, nullptr, 1, 0, value, nullptr}; }
  /// scale * value, `value` in [0, count).
  static DigitValue Running(llvm::Value* value, int64_t count, int64_t scale = 1) {
    return {true, value, scale, scale * (count - 1), 0, nullptr};
  }
};

/// An integer that is affine in loops' running values:
///
///     sum of coefficient * value over terms + constant + lanes[l]      in lane l
struct IndexValue {
  struct Term {
    llvm::Value* value;
    int64_t coefficient;
  };
  std::vector<Term> terms;
  int64_t constant = 0;
  std::vector<int64_t> lanes;  ///< empty: the same in all lanes; else lanes[0] is 0

  bool is_constant() const { return terms.empty() && lanes.empty(); }
  void AddTerm(llvm::Value* value, int64_t coefficient);
};

/// The digits of a program at the place where code is being emitted. Digits of extent 1 are 0
/// everywhere.
class Digits {
 public:
  explicit Digits(const tensor::Program& program);

  DigitValue& operator[](tensor::DigitId digit) { return values_[digit]; }
  const DigitValue& operator[](tensor::DigitId digit) const { return values_[digit]; }
  int size() const { return static_cast<int>(values_.size()); }
  /// Further digits, of code generation's own, that have no value yet.
  void Add(size_t count) { values_.resize(values_.size() + count); }

  IndexValue Evaluate(const tensor::Affine& index) const;
  /// Bounds of an index in all lanes, for all running values of the loops.
  tensor::IndexRange RangeOf(const tensor::Affine& index) const;

 private:
  std::vector<DigitValue> values_;
};

}  // namespace bayloom::codegen
