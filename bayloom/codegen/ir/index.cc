// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/index.h"

#include <algorithm>
#include <stdexcept>

namespace bayloom::codegen {

void IndexValue::AddTerm(llvm::Value* value, int64_t coefficient) {
  for (Term& term : terms) {
    if (term.value == value) {
      term.coefficient += coefficient;
      return;
    }
  }
  terms.push_back({value, coefficient});
}

Digits::Digits(const tensor::Program& program) : values_(program.digit_extents.size()) {
  for (size_t digit = 0; digit < values_.size(); ++digit) {
    if (program.digit_extents[digit] == 1) values_[digit] = DigitValue::Constant(0);
  }
}

IndexValue Digits::Evaluate(const tensor::Affine& index) const {
  IndexValue result;
  result.constant = index.constant;
  for (const tensor::Affine::Term& term : index.terms) {
    const DigitValue& digit = values_[term.digit];
    if (!digit.bound) throw std::logic_error("an index uses a digit of no enclosing loop");
    result.constant += term.coefficient * digit.offset;
    if (digit.base) result.AddTerm(digit.base, term.coefficient * digit.scale);
    if (!digit.lanes) continue;
    result.lanes.resize(digit.lanes->size());
    for (size_t l = 0; l < result.lanes.size(); ++l) {
      result.lanes[l] += term.coefficient * (*digit.lanes)[l];
    }
  }
  if (!result.lanes.empty()) {
    const int64_t first = result.lanes[0];
    result.constant += first;
    for (int64_t& lane : result.lanes) lane -= first;
    const bool uniform = std::ranges::all_of(result.lanes, [](int64_t lane) { return lane == 0; });
    if (uniform) result.lanes.clear();
  }
  std::erase_if(result.terms, [](const IndexValue::Term& term) { return term.coefficient == 0; });
  return result;
}

tensor::IndexRange Digits::RangeOf(const tensor::Affine& index) const {
  tensor::IndexRange range{index.constant, index.constant};
  for (const tensor::Affine::Term& term : index.terms) {
    const DigitValue& digit = values_[term.digit];
    tensor::IndexRange of_digit{digit.offset, digit.offset + digit.reach};
    if (digit.lanes) {
      const auto [least, greatest] = std::ranges::minmax(*digit.lanes);
      of_digit.min += least;
      of_digit.max += greatest;
    }
    const int64_t a = term.coefficient * of_digit.min, b = term.coefficient * of_digit.max;
    range.min += std::min(a, b);
    range.max += std::max(a, b);
  }
  return range;
}

}  // namespace bayloom::codegen
