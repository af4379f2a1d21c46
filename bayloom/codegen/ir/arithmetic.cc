// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/arithmetic.h"

#include <llvm/IR/Intrinsics.h>

#include <stdexcept>

#include "bayloom/codegen/ir/math.h"

namespace bayloom::codegen {
namespace {

/// A constant none of whose lanes is NaN.
bool IsNumber(llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant) return false;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && !number->isNaN();
}

/// The smaller or larger of two floats, NaN if one is; against a number it is one instruction.
llvm::Value* FloatExtremum(IrBuilder& b, bool smaller, llvm::Value* x, llvm::Value* y) {
  if (IsNumber(x)) std::swap(x, y);
  if (IsNumber(y)) {
    llvm::Value* better = smaller ? b.CreateFCmpOLT(y, x) : b.CreateFCmpOGT(y, x);
    return b.CreateSelect(better, y, x);
  }
  const auto id = smaller ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum;
  auto* call = llvm::cast<llvm::CallInst>(b.CreateIntrinsic(id, {x->getType()}, {x, y}));
  call->setHasNoSignedZeros(true);
  return call;
}

llvm::Value* FloatBinary(IrBuilder& b, tensor::ExprOp op, llvm::Value* x, llvm::Value* y) {
  switch (op) {
    case tensor::ExprOp::kAdd:
      return b.CreateFAdd(x, y);
    case tensor::ExprOp::kSub:
      return b.CreateFSub(x, y);
    case tensor::ExprOp::kMul:
      return b.CreateFMul(x, y);
    case tensor::ExprOp::kDiv:
      return b.CreateFDiv(x, y);
    case tensor::ExprOp::kMod:
      return CallLibrary(b, "fmod", {x, y});
    case tensor::ExprOp::kMin:
      return FloatExtremum(b, true, x, y);
    case tensor::ExprOp::kMax:
      return FloatExtremum(b, false, x, y);
    case tensor::ExprOp::kPow:
      return EmitPower(b, x, y);
    case tensor::ExprOp::kLess:
      return b.CreateFCmpOLT(x, y);
    case tensor::ExprOp::kLessEqual:
      return b.CreateFCmpOLE(x, y);
    case tensor::ExprOp::kEqual:
      return b.CreateFCmpOEQ(x, y);
    default:
      throw std::logic_error("not an operation on floats");
  }
}

/// Division of signed integers; the least number divided by -1 wraps instead of trapping.
llvm::Value* SignedDivision(IrBuilder& b, tensor::ExprOp op, llvm::Value* x, llvm::Value* y) {
  llvm::Type* type = y->getType();
  llvm::Constant* zero = llvm::ConstantInt::get(type, 0);
  llvm::Value* divisor = y;
  llvm::Value* is_minus_one = nullptr;
  if (!llvm::isa<llvm::Constant>(y)) {
    is_minus_one = b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(type));
    divisor = b.CreateSelect(is_minus_one, llvm::ConstantInt::get(type, 1), y);
  }
  llvm::Value* remainder = b.CreateSRem(x, divisor);
  llvm::Value* rounds_differ = b.CreateAnd(b.CreateICmpNE(remainder, zero),
                                           b.CreateICmpSLT(b.CreateXor(remainder, y), zero));
  if (op == tensor::ExprOp::kMod) return remainder;
  if (op == tensor::ExprOp::kFloorMod) {
    return b.CreateSelect(rounds_differ, b.CreateAdd(remainder, y), remainder);
  }
  llvm::Value* quotient = b.CreateSDiv(x, divisor);
  if (is_minus_one) quotient = b.CreateSelect(is_minus_one, b.CreateNeg(x), quotient);
  if (op == tensor::ExprOp::kDiv) return quotient;
  return b.CreateSub(quotient, b.CreateZExt(rounds_differ, type));
}

llvm::Value* Division(IrBuilder& b, tensor::ExprOp op, tensor::DType dtype, llvm::Value* x,
                      llvm::Value* y) {
  if (!tensor::IsUnsigned(dtype)) return SignedDivision(b, op, x, y);
  const bool quotient = op == tensor::ExprOp::kDiv || op == tensor::ExprOp::kFloorDiv;
  return quotient ? b.CreateUDiv(x, y) : b.CreateURem(x, y);
}

/// Shifts by the type's width or more shift every bit out.
llvm::Value* Shift(IrBuilder& b, tensor::ExprOp op, tensor::DType dtype, llvm::Value* x,
                   llvm::Value* y) {
  llvm::Type* type = x->getType();
  const uint64_t width = 8 * static_cast<uint64_t>(tensor::ByteSize(dtype));
  llvm::Value* in_range = b.CreateICmpULT(y, llvm::ConstantInt::get(type, width));
  const bool fills_with_sign = op == tensor::ExprOp::kShiftRight && !tensor::IsUnsigned(dtype);
  llvm::Constant* limit = llvm::ConstantInt::get(type, fills_with_sign ? width - 1 : 0);
  llvm::Value* amount = b.CreateSelect(in_range, y, limit);
  if (fills_with_sign) return b.CreateAShr(x, amount);
  llvm::Value* shifted =
      op == tensor::ExprOp::kShiftLeft ? b.CreateShl(x, amount) : b.CreateLShr(x, amount);
  return b.CreateSelect(in_range, shifted, llvm::ConstantInt::get(type, 0));
}

/// Through doubles, which hold the results that matter exactly.
llvm::Value* IntegerPower(IrBuilder& b, tensor::DType dtype, llvm::Value* x, llvm::Value* y) {
  llvm::Value* base = EmitCast(b, x, dtype, tensor::DType::kFloat64);
  llvm::Value* exponent = EmitCast(b, y, dtype, tensor::DType::kFloat64);
  return EmitCast(b, EmitPower(b, base, exponent), tensor::DType::kFloat64, dtype);
}

llvm::Value* IntegerExtremum(IrBuilder& b, tensor::ExprOp op, tensor::DType dtype, llvm::Value* x,
                             llvm::Value* y) {
  const bool smaller = op == tensor::ExprOp::kMin;
  const auto id = tensor::IsUnsigned(dtype)
                      ? (smaller ? llvm::Intrinsic::umin : llvm::Intrinsic::umax)
                      : (smaller ? llvm::Intrinsic::smin : llvm::Intrinsic::smax);
  return b.CreateBinaryIntrinsic(id, x, y);
}

llvm::Value* IntegerBinary(IrBuilder& b, tensor::ExprOp op, tensor::DType dtype, llvm::Value* x,
                           llvm::Value* y) {
  const bool is_unsigned = tensor::IsUnsigned(dtype);
  switch (op) {
    case tensor::ExprOp::kAdd:
      return b.CreateAdd(x, y);
    case tensor::ExprOp::kSub:
      return b.CreateSub(x, y);
    case tensor::ExprOp::kMul:
      return b.CreateMul(x, y);
    case tensor::ExprOp::kDiv:
    case tensor::ExprOp::kFloorDiv:
    case tensor::ExprOp::kMod:
    case tensor::ExprOp::kFloorMod:
      return Division(b, op, dtype, x, y);
    case tensor::ExprOp::kMin:
    case tensor::ExprOp::kMax:
      return IntegerExtremum(b, op, dtype, x, y);
    case tensor::ExprOp::kPow:
      return IntegerPower(b, dtype, x, y);
    case tensor::ExprOp::kShiftLeft:
    case tensor::ExprOp::kShiftRight:
      return Shift(b, op, dtype, x, y);
    case tensor::ExprOp::kLess:
      return is_unsigned ? b.CreateICmpULT(x, y) : b.CreateICmpSLT(x, y);
    case tensor::ExprOp::kLessEqual:
      return is_unsigned ? b.CreateICmpULE(x, y) : b.CreateICmpSLE(x, y);
    case tensor::ExprOp::kEqual:
      return b.CreateICmpEQ(x, y);
    case tensor::ExprOp::kAnd:
      return b.CreateAnd(x, y);
    case tensor::ExprOp::kOr:
      return b.CreateOr(x, y);
    case tensor::ExprOp::kXor:
      return b.CreateXor(x, y);
    default:
      throw std::logic_error("not an operation on integers");
  }
}

llvm::Value* IntegerUnary(IrBuilder& b, tensor::ExprOp op, tensor::DType dtype, llvm::Value* x) {
  llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
  switch (op) {
    case tensor::ExprOp::kNot:
      return b.CreateNot(x);
    case tensor::ExprOp::kNegate:
      return b.CreateNeg(x);
    case tensor::ExprOp::kAbs:
      if (tensor::IsUnsigned(dtype)) return x;
      return b.CreateSelect(b.CreateICmpSLT(x, zero), b.CreateNeg(x), x);
    case tensor::ExprOp::kSign: {
      llvm::Value* positive = b.CreateZExt(b.CreateICmpNE(x, zero), x->getType());
      if (tensor::IsUnsigned(dtype)) return positive;
      return b.CreateSelect(b.CreateICmpSLT(x, zero), llvm::Constant::getAllOnesValue(x->getType()),
                            positive);
    }
    default:
      throw std::logic_error("not an operation on integers");
  }
}

llvm::Value* FloatUnary(IrBuilder& b, tensor::ExprOp op, llvm::Value* x) {
  switch (op) {
    case tensor::ExprOp::kNegate:
      return b.CreateFNeg(x);
    case tensor::ExprOp::kIsNan:
      return b.CreateFCmpUNO(x, x);
    case tensor::ExprOp::kIsInf:
      return b.CreateFCmpOEQ(EmitMath(b, tensor::ExprOp::kAbs, x),
                             llvm::ConstantFP::getInfinity(x->getType()));
    default:
      return EmitMath(b, op, x);
  }
}

bool IsPredicate(tensor::ExprOp op) {
  return op == tensor::ExprOp::kLess || op == tensor::ExprOp::kLessEqual ||
         op == tensor::ExprOp::kEqual || op == tensor::ExprOp::kIsNan ||
         op == tensor::ExprOp::kIsInf;
}

}  // namespace

llvm::Value* EmitBinary(IrBuilder& b, tensor::ExprOp op, tensor::DType dtype, llvm::Value* x,
                        llvm::Value* y) {
  const int lanes = std::max(LanesOf(x), LanesOf(y));
  x = Splat(b, x, lanes);
  y = Splat(b, y, lanes);
  if (!tensor::IsFloat(dtype)) return IntegerBinary(b, op, dtype, x, y);
  llvm::Value* value = FloatBinary(b, op, x, y);
  return IsPredicate(op) ? value : RoundToType(b, value, dtype);
}

llvm::Value* EmitUnary(IrBuilder& b, tensor::ExprOp op, tensor::DType dtype, llvm::Value* x) {
  if (!tensor::IsFloat(dtype)) return IntegerUnary(b, op, dtype, x);
  llvm::Value* value = FloatUnary(b, op, x);
  return IsPredicate(op) ? value : RoundToType(b, value, dtype);
}

llvm::Value* EmitMultiplyAdd(IrBuilder& b, llvm::Value* x, llvm::Value* y, llvm::Value* z) {
  const int lanes = std::max({LanesOf(x), LanesOf(y), LanesOf(z)});
  z = Splat(b, z, lanes);
  return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {z->getType()},
                           {Splat(b, x, lanes), Splat(b, y, lanes), z});
}

llvm::Constant* EmitLiteral(IrBuilder& b, const tensor::ExprNode& node) {
  llvm::Type* type = RegisterType(b.getContext(), node.dtype, 1);
  if (node.op == tensor::ExprOp::kFloat) return llvm::ConstantFP::get(type, node.float_value);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(node.int_value), true);
}

}  // namespace bayloom::codegen
