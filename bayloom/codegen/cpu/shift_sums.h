// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>

#include "bayloom/codegen/cpu/nest_context.h"

namespace bayloom::codegen {

/// Where one operand of a tile's products is shifted, or has a zero point, what that adds to the
/// sums is the other operand's sum times a number: it is summed up beside them and taken away at
/// the end. Positions that differ in nothing that the other operand depends on share it.
class ShiftSums {
 public:
  /// `other`: the load of the other operand.
  ShiftSums(NestContext& nest, const plan::AccumulatorTile& tile, const tensor::Expr& other,
            tensor::DType dtype);

  /// Makes the sum for the position where the code is.
  void Begin();
  /// The variable to which the position adds what the shift does; null if another one does it.
  llvm::AllocaInst* ToAddHere() const;
  /// The position's variable.
  llvm::AllocaInst* SumHere() const { return sums_.at(KeyHere()); }
  llvm::Value* TakenAwayFrom(llvm::Value* value) const;
  /// All sums become zero.
  void StartAgain();
  void Forget() { sums_.clear(); }

 private:
  int64_t KeyHere() const { return nest_.digits.Evaluate(other_).constant; }
  bool IsFirst() const;

  NestContext& nest_;
  const plan::AccumulatorTile& tile_;
  const tensor::DType dtype_;
  /// The index of the other operand, without what the reduction and loops around the tile add.
  tensor::Affine other_;
  std::map<int64_t, llvm::AllocaInst*> sums_;  ///< by the constant part of `other_`
};

}  // namespace bayloom::codegen
