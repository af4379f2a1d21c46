// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/codegen/ir/types.h"
#include "bayloom/tensor/expr.h"

namespace bayloom::codegen {

/// Mathematical functions on registers (float or double, scalar or vector), from kFloor to kTanh
/// and so on.
///
/// For float, kExp, kLog, kErf and kTanh are computed in all lanes at once by approximations good
/// to 1, 1, 5 and 5 units in the last place over the whole range, NaNs, infinities and
/// subnormals included; in vectors also kSin, kCos, kAsin, kAcos and kAtan, good to 2 units.
/// Everything else that no instruction does is the C library's, lane by lane.
llvm::Value* EmitMath(IrBuilder& builder, tensor::ExprOp op, llvm::Value* x);

/// Lets kExp in the module multiply by powers of two in one instruction (AVX-512).
void AllowScalingByPowers(llvm::Module& module);

/// base to the power of exponent; small constant exponents become products.
llvm::Value* EmitPower(IrBuilder& builder, llvm::Value* base, llvm::Value* exponent);

/// Calls a function of the C library in every lane; `name` is the one for double.
llvm::Value* CallLibrary(IrBuilder& builder, const std::string& name,
                         const std::vector<llvm::Value*>& arguments);

}  // namespace bayloom::codegen
