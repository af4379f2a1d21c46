// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/shift_sums.h"

#include <algorithm>

namespace bayloom::codegen {

ShiftSums::ShiftSums(NestContext& nest, const plan::AccumulatorTile& tile,
                     const tensor::Expr& other, tensor::DType dtype)
    : nest_(nest),
      tile_(tile),
      dtype_(dtype),
      other_(nest.plan.accesses.at(tile.block).loads.at(other.get()).affine) {
  other_.constant = 0;
  std::erase_if(other_.terms, [&](const tensor::Affine::Term& term) {
    return std::ranges::none_of(tile.spatial, [&](tensor::LoopId loop) {
      return std::ranges::count(nest.program.loops[loop].digits, term.digit) > 0;
    });
  });
}

void ShiftSums::Begin() {
  if (nest_.state.chunk.width == 1) return;
  llvm::AllocaInst*& sum = sums_[KeyHere()];
  if (sum) return;
  llvm::Type* type = RegisterType(nest_.builder.getContext(), dtype_, nest_.state.chunk.width);
  sum = nest_.NewSlot(type);
  nest_.builder.CreateStore(llvm::Constant::getNullValue(type), sum);
}

/// Of the positions that share a sum.
bool ShiftSums::IsFirst() const {
  return std::ranges::all_of(tile_.spatial, [&](tensor::LoopId loop) {
    return std::ranges::all_of(nest_.program.loops[loop].digits, [&](tensor::DigitId digit) {
      return other_.CoefficientOf(digit) != 0 || nest_.digits[digit].offset == 0;
    });
  });
}

llvm::AllocaInst* ShiftSums::ToAddHere() const { return IsFirst() ? sums_.at(KeyHere()) : nullptr; }

void ShiftSums::StartAgain() {
  for (const auto& [key, sum] : sums_) {
    nest_.builder.CreateStore(llvm::Constant::getNullValue(sum->getAllocatedType()), sum);
  }
}

llvm::Value* ShiftSums::TakenAwayFrom(llvm::Value* value) const {
  if (sums_.empty() || nest_.state.chunk.width == 1) return value;
  llvm::AllocaInst* sum = sums_.at(KeyHere());
  IrBuilder& b = nest_.builder;
  return b.CreateSub(value, b.CreateLoad(sum->getAllocatedType(), sum));
}

}  // namespace bayloom::codegen
