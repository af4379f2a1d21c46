// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/machine.h"

namespace bayloom::codegen {

llvm::Value* Machine::Shuffle(IrBuilder& b, llvm::Value* value, int lanes) {
  constexpr unsigned kBits = 32;
  llvm::Type* type = value->getType();
  const unsigned width = type->getScalarSizeInBits();
  llvm::Value* bits = b.CreateBitCast(value, b.getIntNTy(width));
  if (width <= kBits) {
    llvm::Value* got = ShuffleBits(b, b.CreateZExt(bits, b.getInt32Ty()), lanes);
    return b.CreateBitCast(b.CreateTrunc(got, b.getIntNTy(width)), type);
  }
  llvm::Value* low = ShuffleBits(b, b.CreateTrunc(bits, b.getInt32Ty()), lanes);
  llvm::Value* high =
      ShuffleBits(b, b.CreateTrunc(b.CreateLShr(bits, kBits), b.getInt32Ty()), lanes);
  llvm::Value* wide = b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), kBits);
  return b.CreateBitCast(b.CreateOr(wide, b.CreateZExt(low, b.getInt64Ty())), type);
}

}  // namespace bayloom::codegen
