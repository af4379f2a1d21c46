// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/open_loop.h"

#include <algorithm>

namespace bayloom::codegen {

llvm::Value* TripsWithin(EmitState& state, const std::vector<plan::OpenAxis>& axes,
                         tensor::DigitId digit, int64_t steps, int64_t scale,
                         const std::function<bool(tensor::DigitId)>& counts) {
  IrBuilder& b = state.builder;
  const auto i64 = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value* most = nullptr;
  for (const plan::OpenAxis& axis : axes) {
    tensor::Affine before = axis.index;  // what other digits make of the index by now
    std::erase_if(before.terms, [&](const tensor::Affine::Term& term) {
      return term.digit == digit || !counts(term.digit);
    });
    const IndexValue at = state.digits.Evaluate(before);
    const int64_t least = at.lanes.empty() ? 0 : *std::ranges::min_element(at.lanes);
    llvm::Value* left = b.CreateSub(state.digits[axis.size].base, state.addresses.Scalar(at));
    left = b.CreateSub(left, i64(least));
    left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, i64(1));
    const int64_t step = axis.index.CoefficientOf(digit) * scale;
    llvm::Value* trips = b.CreateUDiv(b.CreateAdd(left, i64(step - 1)), i64(step));
    most = most ? b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, most, trips) : trips;
  }
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, most, i64(steps));
}

}  // namespace bayloom::codegen
