// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/codegen/ir/types.h"
#include "bayloom/target/dot_instruction.h"
#include "bayloom/tensor/dtype.h"

namespace bayloom::codegen {

/// A factor of a dot product in registers: an integer of 32 bits, or of 64 where two parts follow
/// each other, that holds the neighbouring elements of this type, the first in its lowest bits, for
/// each lane or the same for all.
struct PackedFactor {
  llvm::Value* value;
  tensor::DType dtype;
};

/// sums + the products of 32 bits, by the method's instruction; at least two lanes. Where operands
/// are to be shifted, `a` has been (Shifted). `in_halves`: each half of a lane has a sum of its own
/// (plan::DotPlan::in_halves).
llvm::Value* EmitDot(IrBuilder& builder, const target::DotMethod& method, const PackedFactor& a,
                     const PackedFactor& b, llvm::Value* sums, bool in_halves = false);
/// Lanes with the sums of their two halves, which are signed.
llvm::Value* SumsOfHalves(IrBuilder& builder, llvm::Value* sums);

/// Of a factor of 64 bits, the low (0) or the high (1) ones.
PackedFactor PartOf(IrBuilder& builder, const PackedFactor& factor, int part);

/// sums + rows * columns by the instruction, which multiplies two rows by two columns of 64 bits
/// each: a matrix in four lanes, transposed where the instruction takes columns first.
llvm::Value* EmitMatrix(IrBuilder& builder, const target::DotInstruction& instruction,
                        const PackedFactor& rows, const PackedFactor& columns, llvm::Value* sums);
/// Whether EmitMatrix gives the transposed matrix.
bool IsTransposed(tensor::DType rows, tensor::DType columns);

/// All bytes moved by 128 into the other sign: uint8 becomes int8 and int8 uint8.
PackedFactor Shifted(IrBuilder& builder, const PackedFactor& factor, int lanes);
/// What a byte of 128, moved into the type, adds: the shifted factor of nothing.
PackedFactor ShiftOf(const PackedFactor& shifted);

/// Elements that were loaded one by one (as bits in memory), scalars or one for each lane, as the
/// packed ones: of 32 bits, or twice as many.
llvm::Value* Pack(IrBuilder& builder, const std::vector<llvm::Value*>& elements);

/// The same element `count` times.
llvm::Constant* PackedLiteral(IrBuilder& builder, tensor::DType dtype, int64_t value, int count);

}  // namespace bayloom::codegen
