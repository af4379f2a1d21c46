// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/reduction.h"

#include <stdexcept>

#include "bayloom/codegen/ir/arithmetic.h"

namespace bayloom::codegen {
namespace {

/// True in the first of the iterations that the loops around make.
llvm::Value* IsFirst(EmitState& state, const tensor::Block& block) {
  IrBuilder& b = state.builder;
  llvm::Value* first = b.getTrue();
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    tensor::Affine outside = block.bindings[i];
    std::erase_if(outside.terms, [&](const tensor::Affine::Term& term) {
      return !state.digits[term.digit].bound;
    });
    llvm::Value* value = state.addresses.Scalar(state.digits.Evaluate(outside));
    first = b.CreateAnd(first, b.CreateICmpEQ(value, b.getInt64(0)));
  }
  return first;
}

}  // namespace

tensor::ExprOp CombiningOp(tensor::Reduction reduction) {
  switch (reduction) {
    case tensor::Reduction::kSum:
      return tensor::ExprOp::kAdd;
    case tensor::Reduction::kProduct:
      return tensor::ExprOp::kMul;
    case tensor::Reduction::kMin:
      return tensor::ExprOp::kMin;
    case tensor::Reduction::kMax:
      return tensor::ExprOp::kMax;
    case tensor::Reduction::kNone:
      break;
  }
  throw std::logic_error("a reduction block without a reduction");
}

llvm::Value* NeutralValue(EmitState& state, const tensor::Block& block) {
  const tensor::Expr neutral =
      tensor::NeutralElement(block.reduction, state.program.buffers[block.output].dtype);
  return EmitLiteral(state.builder, *neutral);
}

llvm::Value* OldValue(EmitState& state, const tensor::Block& block,
                      const plan::PlacedAccess& store) {
  IrBuilder& b = state.builder;
  llvm::Value* first =
      block.kind == tensor::BlockKind::kReduce ? IsFirst(state, block) : b.getFalse();
  if (first == b.getTrue()) return NeutralValue(state, block);
  const IndexValue index = state.digits.Evaluate(store.affine);
  llvm::Value* old = state.memory.Load(block.output, index, nullptr, state.chunk, nullptr);
  if (first == b.getFalse()) return old;
  const int lanes = LanesOf(old);
  return b.CreateSelect(Splat(b, first, lanes), Splat(b, NeutralValue(state, block), lanes), old);
}

llvm::Value* WithOneMore(EmitState& state, const tensor::Block& block, ExpressionEmitter& values,
                         llvm::Value* old) {
  const tensor::DType dtype = state.program.buffers[block.output].dtype;
  const bool fusable = dtype == tensor::DType::kFloat32 || dtype == tensor::DType::kFloat64;
  const tensor::Expr& value = block.value;
  if (fusable && block.reduction == tensor::Reduction::kSum && value->op == tensor::ExprOp::kMul) {
    llvm::Value* a = values.Emit(value->operands[0]);
    return EmitMultiplyAdd(state.builder, a, values.Emit(value->operands[1]), old);
  }
  // Of an extreme, whether the first operand is a number is asked: that of the new value is known
  // before the old one is.
  return EmitBinary(state.builder, CombiningOp(block.reduction), dtype, values.Emit(value), old);
}

}  // namespace bayloom::codegen
