// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/ir/types.h"
#include "bayloom/tensor/expr.h"

namespace bayloom::codegen {

/// kSin or kCos of a vector of floats, in all lanes at once. Arguments beyond 2^20 are the C
/// library's, lane by lane, in a vector that has one.
llvm::Value* EmitSineOrCosine(IrBuilder& builder, tensor::ExprOp op, llvm::Value* x);

/// kAsin, kAcos or kAtan of floats.
llvm::Value* EmitArc(IrBuilder& builder, tensor::ExprOp op, llvm::Value* x);

}  // namespace bayloom::codegen
