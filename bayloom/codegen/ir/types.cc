// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/types.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <limits>

namespace bayloom::codegen {
namespace {

llvm::Type* Like(llvm::Value* value, llvm::Type* scalar) {
  return WithLanes(scalar, LanesOf(value));
}

/// The bits that BFloatFromBits has made a value of; null for other values.
llvm::Value* BitsBehind(llvm::Value* value) {
  using namespace llvm::PatternMatch;
  llvm::Value* bits = nullptr;
  const bool is_widened =
      match(value, m_BitCast(m_Shl(m_ZExt(m_Value(bits)), m_SpecificInt(16)))) &&
      bits->getType()->getScalarSizeInBits() == 16;
  return is_widened ? bits : nullptr;
}

/// Bits of the nearest bfloat16, ties to even; NaNs stay quiet NaNs. Values that were rounded
/// before are not rounded again.
llvm::Value* BFloatBits(IrBuilder& b, llvm::Value* value) {
  if (llvm::Value* bits = BitsBehind(value)) return bits;
  llvm::Type* wide = Like(value, b.getInt32Ty());
  auto constant = [&](uint32_t x) { return llvm::ConstantInt::get(wide, x); };
  llvm::Value* bits = b.CreateBitCast(value, wide);
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), constant(1));
  llvm::Value* rounded = b.CreateAdd(bits, b.CreateAdd(odd, constant(0x7fff)));
  llvm::Value* is_nan = b.CreateFCmpUNO(value, value);
  llvm::Value* chosen = b.CreateSelect(is_nan, constant(0x7fc00000), rounded);
  return b.CreateTrunc(b.CreateLShr(chosen, 16), Like(value, b.getInt16Ty()));
}

llvm::Value* BFloatFromBits(IrBuilder& b, llvm::Value* bits) {
  llvm::Value* wide = b.CreateShl(b.CreateZExt(bits, Like(bits, b.getInt32Ty())), 16);
  return b.CreateBitCast(wide, Like(bits, b.getFloatTy()));
}

/// The nearest float with 10 bits of fraction, ties to even. NaNs stay what they are.
llvm::Value* RoundedToTFloat32(IrBuilder& b, llvm::Value* value) {
  constexpr uint32_t kDroppedBits = 13, kDropped = (1U << kDroppedBits) - 1;
  llvm::Type* wide = Like(value, b.getInt32Ty());
  auto constant = [&](uint32_t x) { return llvm::ConstantInt::get(wide, x); };
  llvm::Value* bits = b.CreateBitCast(value, wide);
  llvm::Value* odd = b.CreateAnd(b.CreateLShr(bits, kDroppedBits), constant(1));
  llvm::Value* sum = b.CreateAdd(bits, b.CreateAdd(odd, constant(kDropped / 2)));
  llvm::Value* rounded = b.CreateBitCast(b.CreateAnd(sum, constant(~kDropped)), value->getType());
  return b.CreateSelect(b.CreateFCmpUNO(value, value), value, rounded);
}

llvm::Value* IntegerToInteger(IrBuilder& b, llvm::Value* value, tensor::DType from,
                              llvm::Type* type) {
  const bool zero_extend = tensor::IsUnsigned(from) || from == tensor::DType::kBool;
  return b.CreateIntCast(value, type, !zero_extend);
}

/// Saturates at 64 bits; not-a-numbers become 0. Vectors are converted by instructions for them,
/// which LLVM's own saturating conversions are not.
llvm::Value* SaturatedToInt64(IrBuilder& b, llvm::Value* value) {
  llvm::Type* wide = Like(value, b.getInt64Ty());
  const auto literal = [&](double x) { return llvm::ConstantFP::get(value->getType(), x); };
  llvm::Value* too_large = b.CreateFCmpOGE(value, literal(0x1p63));
  llvm::Value* fits = b.CreateAnd(b.CreateFCmpOGE(value, literal(-0x1p63)),
                                  b.CreateFCmpOLT(value, literal(0x1p63)));
  llvm::Value* converted = b.CreateFPToSI(b.CreateSelect(fits, value, literal(0)), wide);
  llvm::Value* too_small = b.CreateFCmpOLT(value, literal(-0x1p63));
  const auto limit = [&](int64_t x) { return llvm::ConstantInt::getSigned(wide, x); };
  converted = b.CreateSelect(too_small, limit(std::numeric_limits<int64_t>::min()), converted);
  return b.CreateSelect(too_large, limit(std::numeric_limits<int64_t>::max()), converted);
}

/// The same as FloatToInteger for float32 and types of at most 32 bits, in 32 bits, of which
/// vectors have instructions: what is left of the number beside multiples of 2^32, all of which
/// float32 holds, is converted.
llvm::Value* WrappedToInt32(IrBuilder& b, llvm::Value* value, bool is_unsigned) {
  const auto literal = [&](double x) { return llvm::ConstantFP::get(value->getType(), x); };
  llvm::Type* wide = Like(value, b.getInt32Ty());
  llvm::Value* multiples =
      b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, b.CreateFMul(value, literal(0x1p-32)));
  llvm::Value* rest = b.CreateFSub(value, b.CreateFMul(multiples, literal(0x1p32)));
  rest = b.CreateSelect(b.CreateFCmpOEQ(rest, literal(0x1p31)), literal(-0x1p31), rest);
  llvm::Constant* limit = literal(is_unsigned ? 0x1p64 : 0x1p63);
  llvm::Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  llvm::Value* number = b.CreateSelect(b.CreateFCmpOLT(magnitude, limit), rest, literal(0));
  return b.CreateSelect(b.CreateFCmpOGE(value, limit), llvm::Constant::getAllOnesValue(wide),
                        b.CreateFPToSI(number, wide));
}

/// Saturates at 64 bits and then wraps to the type, as the interpreter does: what no int64 holds
/// is taken for a uint64 if the type is unsigned.
llvm::Value* FloatToInteger(IrBuilder& b, llvm::Value* value, tensor::DType to, llvm::Type* type) {
  if (value->getType()->getScalarType()->isFloatTy() && tensor::ByteSize(to) <= 4) {
    return b.CreateTrunc(WrappedToInt32(b, value, tensor::IsUnsigned(to)), type);
  }
  if (!tensor::IsUnsigned(to)) return b.CreateTrunc(SaturatedToInt64(b, value), type);
  llvm::Constant* half = llvm::ConstantFP::get(value->getType(), 0x1p63);
  llvm::Value* is_large = b.CreateFCmpOGE(value, half);
  llvm::Value* rest = b.CreateSelect(is_large, b.CreateFSub(value, half), value);
  llvm::Type* wide = Like(value, b.getInt64Ty());
  llvm::Value* top = b.CreateSelect(
      is_large, llvm::ConstantInt::getSigned(wide, std::numeric_limits<int64_t>::min()),
      llvm::Constant::getNullValue(wide));
  return b.CreateTrunc(b.CreateXor(SaturatedToInt64(b, rest), top), type);
}

}  // namespace

llvm::Type* MemoryType(llvm::LLVMContext& context, tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kFloat16:
      return llvm::Type::getHalfTy(context);
    case tensor::DType::kFloat32:
    case tensor::DType::kTFloat32:
      return llvm::Type::getFloatTy(context);
    case tensor::DType::kFloat64:
      return llvm::Type::getDoubleTy(context);
    default:
      return llvm::Type::getIntNTy(context, 8 * tensor::ByteSize(dtype));
  }
}

llvm::Type* RegisterType(llvm::LLVMContext& context, tensor::DType dtype, int lanes) {
  llvm::Type* scalar = dtype == tensor::DType::kBool ? llvm::Type::getInt1Ty(context)
                       : dtype == tensor::DType::kFloat16 || dtype == tensor::DType::kBFloat16
                           ? llvm::Type::getFloatTy(context)
                           : MemoryType(context, dtype);
  return WithLanes(scalar, lanes);
}

llvm::Type* WithLanes(llvm::Type* scalar, int lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

int LanesOf(const llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

llvm::Value* FromMemory(IrBuilder& b, llvm::Value* value, tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kBool:
      return b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    case tensor::DType::kFloat16:
      return b.CreateFPExt(value, Like(value, b.getFloatTy()));
    case tensor::DType::kBFloat16:
      return BFloatFromBits(b, value);
    default:
      return value;
  }
}

llvm::Value* ToMemory(IrBuilder& b, llvm::Value* value, tensor::DType dtype) {
  switch (dtype) {
    case tensor::DType::kBool:
      return b.CreateZExt(value, Like(value, b.getInt8Ty()));
    case tensor::DType::kFloat16:
      return b.CreateFPTrunc(value, Like(value, b.getHalfTy()));
    case tensor::DType::kBFloat16:
      return BFloatBits(b, value);
    case tensor::DType::kTFloat32:
      return RoundedToTFloat32(b, value);
    default:
      return value;
  }
}

llvm::Value* RoundToType(IrBuilder& b, llvm::Value* value, tensor::DType dtype) {
  const bool rounds = dtype == tensor::DType::kFloat16 || dtype == tensor::DType::kBFloat16 ||
                      dtype == tensor::DType::kTFloat32;
  if (!rounds) return value;
  return FromMemory(b, ToMemory(b, value, dtype), dtype);
}

llvm::Value* EmitCast(IrBuilder& b, llvm::Value* value, tensor::DType from, tensor::DType to) {
  if (from == to) return value;
  llvm::Type* type = RegisterType(b.getContext(), to, LanesOf(value));
  if (to == tensor::DType::kBool) {
    llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
    return tensor::IsFloat(from) ? b.CreateFCmpUNE(value, zero) : b.CreateICmpNE(value, zero);
  }
  if (tensor::IsFloat(from) && tensor::IsFloat(to)) {
    return RoundToType(b, b.CreateFPCast(value, type), to);
  }
  if (tensor::IsFloat(from)) return FloatToInteger(b, value, to, type);
  if (!tensor::IsFloat(to)) return IntegerToInteger(b, value, from, type);
  const bool is_unsigned = tensor::IsUnsigned(from) || from == tensor::DType::kBool;
  llvm::Value* converted = is_unsigned ? b.CreateUIToFP(value, type) : b.CreateSIToFP(value, type);
  return RoundToType(b, converted, to);
}

llvm::Value* EmitSmallFloatToInteger(IrBuilder& b, llvm::Value* value, tensor::DType to) {
  llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
  llvm::Value* number = b.CreateSelect(b.CreateFCmpORD(value, zero), value, zero);
  llvm::Value* wide = b.CreateFPToSI(number, Like(value, b.getInt32Ty()));
  return b.CreateIntCast(wide, RegisterType(b.getContext(), to, LanesOf(value)), true);
}

llvm::Value* Splat(IrBuilder& b, llvm::Value* value, int lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return b.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

}  // namespace bayloom::codegen
