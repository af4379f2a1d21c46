// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/ir/types.h"
#include "bayloom/tensor/expr.h"

namespace bayloom::codegen {

/// Binary ops of ExprOp on register values of the type, with the interpreter's meaning. A scalar
/// operand next to a vector means the same in all lanes. A divisor must not be zero.
llvm::Value* EmitBinary(IrBuilder& builder, tensor::ExprOp op, tensor::DType dtype, llvm::Value* a,
                        llvm::Value* b);
/// Unary ops of ExprOp.
llvm::Value* EmitUnary(IrBuilder& builder, tensor::ExprOp op, tensor::DType dtype, llvm::Value* a);
/// a * b + c on float32 or float64, rounded once where the target can.
llvm::Value* EmitMultiplyAdd(IrBuilder& builder, llvm::Value* a, llvm::Value* b, llvm::Value* c);
/// A literal (kInt or kFloat) as a scalar.
llvm::Constant* EmitLiteral(IrBuilder& builder, const tensor::ExprNode& node);

}  // namespace bayloom::codegen
