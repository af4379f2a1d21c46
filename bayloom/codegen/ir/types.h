// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/IRBuilder.h>

#include "bayloom/tensor/dtype.h"

namespace bayloom::codegen {

using IrBuilder = llvm::IRBuilder<>;

/// Element types have two faces: in memory as the buffer's contract says, in registers as it is
/// best to compute with. They differ for
///   bool       a byte 0 or 1 in memory, i1 in registers
///   float16    half in memory, float in registers, rounded after every operation
///   bfloat16   its bits as i16 in memory, float in registers, rounded after every operation
llvm::Type* MemoryType(llvm::LLVMContext& context, tensor::DType dtype);
/// A scalar for one lane, else a vector.
llvm::Type* RegisterType(llvm::LLVMContext& context, tensor::DType dtype, int lanes);
/// The type with this many lanes: the scalar itself for one.
llvm::Type* WithLanes(llvm::Type* scalar, int lanes);
/// 1 for a scalar.
int LanesOf(const llvm::Value* value);

/// Conversions between the two faces, of scalars or vectors.
llvm::Value* FromMemory(IrBuilder& builder, llvm::Value* value, tensor::DType dtype);
llvm::Value* ToMemory(IrBuilder& builder, llvm::Value* value, tensor::DType dtype);

/// Rounds a register value to what the type can hold, after arithmetic.
llvm::Value* RoundToType(IrBuilder& builder, llvm::Value* value, tensor::DType dtype);

/// A cast with the interpreter's meaning: floats become integers towards zero, NaN becomes 0,
/// integers wrap, anything but zero is true.
llvm::Value* EmitCast(IrBuilder& builder, llvm::Value* value, tensor::DType from, tensor::DType to);

/// The same for floats all of whose numbers fit into an int32, which processors convert at once.
llvm::Value* EmitSmallFloatToInteger(IrBuilder& builder, llvm::Value* value, tensor::DType to);

/// A value of all lanes from a scalar; vectors stay as they are.
llvm::Value* Splat(IrBuilder& builder, llvm::Value* value, int lanes);

}  // namespace bayloom::codegen
