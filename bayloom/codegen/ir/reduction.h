// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/ir/expression.h"

namespace bayloom::codegen {

/// The operation that combines two values of a reduction.
tensor::ExprOp CombiningOp(tensor::Reduction reduction);

/// What the block's output holds where nothing has been combined yet.
llvm::Value* NeutralValue(EmitState& state, const tensor::Block& block);

/// What the output, stored at `store`, holds before the block combines a value with it: for kReduce
/// blocks the neutral element the first time, that is, where all reduction iterators are zero but
/// for digits that have no value yet.
llvm::Value* OldValue(EmitState& state, const tensor::Block& block,
                      const plan::PlacedAccess& store);

/// `old` combined with the block's value.
llvm::Value* WithOneMore(EmitState& state, const tensor::Block& block, ExpressionEmitter& values,
                         llvm::Value* old);

}  // namespace bayloom::codegen
