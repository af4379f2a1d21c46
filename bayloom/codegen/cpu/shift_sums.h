// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include "bayloom/codegen/cpu/nest_context.h"

namespace bayloom::codegen {

/// Where an instruction takes bytes of another sign, an operand is shifted; what the shift adds to
/// the sums of a tile is summed up beside them and taken away at the end. Positions that differ in
/// nothing that the other operand depends on share it.
class ShiftSums {
 public:
  ShiftSums(NestContext& nest, const plan::AccumulatorTile& tile, const plan::DotPlan& dot);

  /// Makes the sum for the position where the code is.
  void Begin();
  /// The variable to which the position adds what the shift does; null if another one does it.
  llvm::AllocaInst* ToAddHere() const;
  llvm::Value* TakenAwayFrom(llvm::Value* value) const;
  void Forget() { sums_.clear(); }

 private:
  int64_t KeyHere() const { return nest_.digits.Evaluate(unshifted_).constant; }
  bool IsFirst() const;

  NestContext& nest_;
  const plan::AccumulatorTile& tile_;
  const tensor::DType dtype_;
  /// The index of the operand that is not shifted, without what the reduction and loops around the
  /// tile add.
  tensor::Affine unshifted_;
  std::map<int64_t, llvm::AllocaInst*> sums_;  ///< by the constant part of `unshifted_`
};

}  // namespace bayloom::codegen
