// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/cpu/dot_product.h"
#include "bayloom/codegen/cpu/nest_context.h"
#include "bayloom/codegen/cpu/shift_sums.h"

namespace bayloom::codegen {

/// `old` with the reduction block's value at the place where the code is, or with all the products
/// that an instruction sums up at once (plan/cpu/dot_plan.h). `shift`: of the tile that is being
/// emitted; null if there is none, and then what a shift adds is taken away at once.
llvm::Value* WithTerm(NestContext& nest, tensor::BlockId block, ExpressionEmitter& values,
                      llvm::Value* old, ShiftSums* shift = nullptr);

/// Of products with scales (plan::DotPlan::block_scale), in lanes. Sums of integers with those of
/// the place where the code is;
llvm::Value* WithIntegers(NestContext& nest, const plan::DotPlan& dot, ExpressionEmitter& values,
                          llvm::Value* integers);
/// sums of what the zero is multiplied by;
llvm::Value* WithBesideZero(NestContext& nest, const plan::DotPlan& dot, ExpressionEmitter& values,
                            llvm::Value* beside);
/// and the total with the integers, less the zero times `beside` (null: there is no zero), scaled.
llvm::Value* WithScaled(NestContext& nest, const plan::DotPlan& dot, ExpressionEmitter& values,
                        llvm::Value* integers, llvm::Value* beside, llvm::Value* total);

/// A factor of all products that an instruction sums up, packed as it takes them.
PackedFactor EmitFactor(NestContext& nest, const plan::DotPlan& dot,
                        const tensor::DotFactor& factor, const plan::BlockAccesses& accesses,
                        ExpressionEmitter& values);

}  // namespace bayloom::codegen
