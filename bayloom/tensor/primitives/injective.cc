// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/injective.h"

#include <algorithm>
#include <cstdlib>

#include "bayloom/tensor/digits.h"

namespace bayloom::tensor {
namespace {

/// Sorted by the size of the coefficient; digits of extent 1 say nothing.
void SortTerms(const Program& program, std::vector<Affine::Term>& terms) {
  std::erase_if(terms, [&](const Affine::Term& t) { return program.digit_extents[t.digit] == 1; });
  std::sort(terms.begin(), terms.end(), [](const Affine::Term& a, const Affine::Term& b) {
    return std::abs(a.coefficient) < std::abs(b.coefficient);
  });
}

}  // namespace

bool IsInjective(const Program& program, std::vector<Affine::Term> terms) {
  SortTerms(program, terms);
  int64_t reach = 0;
  for (const Affine::Term& term : terms) {
    const int64_t step = std::abs(term.coefficient);
    if (step <= reach) return false;
    reach += step * (program.digit_extents[term.digit] - 1);
  }
  return true;
}

bool IsMixedRadix(const Program& program, std::vector<Affine::Term> terms) {
  SortTerms(program, terms);
  int64_t product = 1;
  for (const Affine::Term& term : terms) {
    if (term.coefficient != product) return false;
    product *= program.digit_extents[term.digit];
  }
  return true;
}

bool IsDense(const Program& program, std::vector<Affine::Term> terms) {
  SortTerms(program, terms);
  int64_t reach = 0;
  for (const Affine::Term& term : terms) {
    const int64_t step = std::abs(term.coefficient);
    if (step > reach + 1) return false;
    reach += step * (program.digit_extents[term.digit] - 1);
  }
  return true;
}

bool VisitsElementsOnce(const Program& program, const Block& block, std::span<const LoopId> loops) {
  const std::vector<DigitId> digits = MovingDigits(program, loops);
  std::vector<DigitId> unseen = digits;
  for (const Affine& binding : block.bindings) {
    std::vector<Affine::Term> terms;
    for (const Affine::Term& term : binding.terms) {
      if (std::find(digits.begin(), digits.end(), term.digit) == digits.end()) continue;
      terms.push_back(term);
      std::erase(unseen, term.digit);
    }
    if (!IsInjective(program, std::move(terms))) return false;
  }
  return unseen.empty();
}

}  // namespace bayloom::tensor
