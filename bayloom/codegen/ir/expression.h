// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bayloom/codegen/ir/memory.h"
#include "bayloom/plan/cpu/guard.h"

namespace bayloom::codegen {

/// A digit whose steps are being emitted one after the other.
struct UnrolledDigit {
  tensor::DigitId digit;
  Steps steps;
};

/// What code emission knows at a place in a function.
struct EmitState {
  /// Whether it is known that the guard holds.
  bool Holds(const plan::Guard& guard) const;

  const tensor::Program& program;
  IrBuilder& builder;
  Digits& digits;
  AddressBuilder& addresses;
  MemoryEmitter& memory;
  plan::Chunk chunk;                              ///< the lanes that code is for
  std::set<const tensor::ExprNode*> known;        ///< conditions that hold here
  std::vector<tensor::Affine> not_negative = {};  ///< indices that are not, here
  /// The loop around a vectorized one, if lanes are loaded across its steps.
  std::optional<UnrolledDigit> across = {};
  /// Values computed in front of the loops around, by the block's accesses.
  std::map<std::pair<const plan::BlockAccesses*, const tensor::ExprNode*>, llvm::Value*> hoisted =
      {};
};

/// Emits the value of a block's expressions: for one point of the loops, or for all lanes of a
/// chunk. Values that are the same in all lanes stay scalars.
class ExpressionEmitter {
 public:
  ExpressionEmitter(EmitState& state, const plan::BlockAccesses& accesses)
      : state_(state), b_(state.builder), accesses_(accesses), memo_(1) {}

  llvm::Value* Emit(const tensor::Expr& e);
  /// What data adds to an access's place, in elements; null: nothing.
  llvm::Value* DynamicOffset(const plan::PlacedAccess& access);
  /// The value of an expression that is known already.
  void Define(const tensor::ExprNode& e, llvm::Value* value) { memo_.front()[&e] = value; }

 private:
  llvm::Value* EmitNew(const tensor::Expr& e);
  /// A comparison of indices whose outcome is known, or that is one of lane numbers; null for
  /// others.
  llvm::Value* DecideComparison(const tensor::ExprNode& node);
  /// Whether an index is at least 0, where it differs from lane to lane; null if it may be too
  /// large for that.
  llvm::Value* CompareLanes(const tensor::Affine& slack);
  llvm::Value* EmitAnd(const tensor::ExprNode& node);
  llvm::Value* EmitLoad(const tensor::ExprNode& node);
  llvm::Value* EmitSelect(const tensor::ExprNode& node);
  llvm::Value* EmitGuarded(const tensor::Expr& e, llvm::Value* condition);
  /// Where the value does not matter, division is by one.
  llvm::Value* SafeDivisor(llvm::Value* dividend, llvm::Value* divisor, bool is_signed);
  /// Beyond the bounds of open axes any numbers may be divided: by one if the processor cannot.
  llvm::Value* OneIfUndefined(llvm::Value* dividend, llvm::Value* divisor, bool is_signed);
  /// An index that is loaded from memory, as an i64. Beyond the bounds of open axes there may be
  /// anything, and the code runs there: it reads inside of the dimension.
  llvm::Value* LoadedIndex(const plan::PlacedAccess::Dynamic& part);
  bool HasOpenAxes() const { return state_.program.SizeCount() > 0; }

  EmitState& state_;
  IrBuilder& b_;
  const plan::BlockAccesses& accesses_;
  llvm::Value* guard_ = nullptr;  ///< where it is false, the value emitted does not matter
  bool conditional_ = false;      ///< at other steps of the loops the value may not be computable
  /// Values known, by nesting of guards: what is valid under an outer guard is under an inner.
  std::vector<std::map<const tensor::ExprNode*, llvm::Value*>> memo_;
};

}  // namespace bayloom::codegen
