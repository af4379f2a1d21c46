// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Intrinsics.h>

#include <cstdint>
#include <span>

#include "bayloom/codegen/ir/types.h"

namespace bayloom::codegen {

/// Builds float arithmetic on values of one shape.
class FloatBuilder {
 public:
  FloatBuilder(IrBuilder& builder, llvm::Value* like)
      : b_(builder), lanes_(LanesOf(like)), int_type_(WithLanes(b_.getInt32Ty(), lanes_)) {}

 protected:
  llvm::Constant* Float(double value) {
    return llvm::ConstantFP::get(WithLanes(b_.getFloatTy(), lanes_), value);
  }
  llvm::Constant* Int(int32_t value) {
    return llvm::ConstantInt::get(int_type_, static_cast<uint64_t>(int64_t{value}), true);
  }
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, c});
  }
  llvm::Value* Abs(llvm::Value* x) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fabs, {x->getType()}, {x});
  }
  /// coefficients[0] + coefficients[1] * x + ...
  llvm::Value* Polynomial(llvm::Value* x, std::span<const double> coefficients) {
    llvm::Value* sum = Float(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = Fma(sum, x, Float(coefficients[i]));
    return sum;
  }
  /// The nearer of the two when x lies outside [low, high]; NaN stays.
  llvm::Value* Clamp(llvm::Value* x, double low, double high) {
    x = b_.CreateSelect(b_.CreateFCmpOGT(x, Float(high)), Float(high), x);
    return b_.CreateSelect(b_.CreateFCmpOLT(x, Float(low)), Float(low), x);
  }
  llvm::Value* AsInt(llvm::Value* x) { return b_.CreateBitCast(x, int_type_); }
  llvm::Value* AsFloat(llvm::Value* x) {
    return b_.CreateBitCast(x, WithLanes(b_.getFloatTy(), lanes_));
  }
  /// |x| with the sign of `sign`.
  llvm::Value* WithSignOf(llvm::Value* x, llvm::Value* sign) {
    return b_.CreateIntrinsic(llvm::Intrinsic::copysign, {x->getType()}, {x, sign});
  }

  IrBuilder& b_;
  int lanes_;
  llvm::Type* int_type_;
};

}  // namespace bayloom::codegen
