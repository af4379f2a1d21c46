// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <vector>

#include "bayloom/codegen/ir/expression.h"

namespace bayloom::codegen {

/// Emits control flow at the end of a function, and gives digits their values inside.
class LoopEmitter {
 public:
  using Body = std::function<void()>;

  /// Both must outlive it.
  LoopEmitter(llvm::Function* function, EmitState& state) : function_(function), state_(state) {}

  llvm::Function* function() const { return function_; }
  /// How many loops are being emitted.
  int depth() const { return depth_; }

  /// Unrolled: the digit takes `steps` values one after the other.
  void Repeat(tensor::DigitId digit, int64_t steps, const Body& body);
  /// A loop; the digit becomes scale times its running value.
  void RunLoop(tensor::DigitId digit, int64_t extent, int64_t scale, const Body& body);
  /// The same for the first `trips` of the steps, one at least (i64).
  void RunLoop(tensor::DigitId digit, llvm::Value* trips, int64_t extent, int64_t scale,
               const Body& body);
  /// A loop from `begin` to `end`, which is greater.
  void EmitLoop(llvm::Value* begin, llvm::Value* end,
                const std::function<void(llvm::PHINode*)>& body);
  /// Runs the body for a chunk of a vectorized loop's positions, all at once.
  void RunChunk(const plan::VectorLoop& vector, const plan::Chunk& chunk, const Body& body);
  /// Runs the body where the condition holds.
  void EmitIf(llvm::Value* condition, const Body& body);
  /// Gives the digits their values at a position (i64) of the loop they make, slowest first: each
  /// is position / stride modulo its extent, or modulo the steps that it takes of them (i64).
  /// Returns the values of those of extent above 1; they
  /// are still to be defined in the address builder.
  std::vector<llvm::Value*> DefineDigits(const std::vector<tensor::DigitId>& digits,
                                         llvm::Value* position,
                                         const std::map<tensor::DigitId, llvm::Value*>& trips = {});

 private:
  llvm::Function* function_;
  EmitState& state_;
  int depth_ = 0;
};

}  // namespace bayloom::codegen
