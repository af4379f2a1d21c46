// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/scaled_sums.h"

#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"
#include "bayloom/plan/cpu/scale_blocks.h"

namespace bayloom::codegen {
namespace {

llvm::AllocaInst* NewZero(NestContext& nest, tensor::DType dtype) {
  llvm::Type* type = RegisterType(nest.builder.getContext(), dtype, nest.state.chunk.width);
  llvm::AllocaInst* slot = nest.NewSlot(type);
  nest.builder.CreateStore(llvm::Constant::getNullValue(type), slot);
  return slot;
}

llvm::Value* Load(NestContext& nest, llvm::AllocaInst* slot) {
  return nest.builder.CreateLoad(slot->getAllocatedType(), slot);
}

}  // namespace

ScaledSums::ScaledSums(NestContext& nest, const plan::AccumulatorTile& tile,
                       const plan::DotPlan& dot)
    : nest_(nest),
      tile_(tile),
      dot_(dot),
      loop_(plan::LoopOfOneScale(nest.program, dot, tile)),
      beside_zero_(nest, tile, dot.BesideZero().load, tensor::DType::kInt32) {}

int64_t ScaledSums::OffsetHere() const {
  return nest_.digits.Evaluate(nest_.plan.accesses.at(tile_.block).store.affine).constant;
}

void ScaledSums::Begin(int64_t offset, llvm::Value* start) {
  totals_[offset] = NewZero(nest_, tensor::DType::kFloat32);
  if (start) nest_.builder.CreateStore(start, totals_[offset]);
  if (!HasLanes()) return;
  integers_[offset] = NewZero(nest_, tensor::DType::kInt32);
  if (dot_.block_scale->zero.defined()) beside_zero_.Begin();
}

void ScaledSums::Add(ExpressionEmitter& values) {
  IrBuilder& b = nest_.builder;
  const int64_t offset = OffsetHere();
  if (!HasLanes() || !loop_) {
    llvm::AllocaInst* total = totals_.at(offset);
    llvm::Value* sum = WithTerm(nest_, tile_.block, values, Load(nest_, total));
    b.CreateStore(Splat(b, sum, nest_.state.chunk.width), total);
    return;
  }
  llvm::AllocaInst* slot = integers_.at(offset);
  b.CreateStore(WithIntegers(nest_, dot_, values, Load(nest_, slot)), slot);
  if (!dot_.block_scale->zero.defined()) return;
  if (llvm::AllocaInst* beside = beside_zero_.ToAddHere()) {
    b.CreateStore(WithBesideZero(nest_, dot_, values, Load(nest_, beside)), beside);
  }
}

llvm::Value* ScaledSums::Result(int64_t offset) { return Load(nest_, totals_.at(offset)); }

bool ScaledSums::Iterate(tensor::LoopId loop, bool unroll, const LoopEmitter::Body& body) {
  if (loop_ != loop) return false;
  nest_.IterateDigits(nest_.program.loops[loop].digits, 0, unroll, body);
  ForEachPosition(0, [&] {
    if (HasLanes()) AddToTotal();
  });
  if (dot_.block_scale->zero.defined()) beside_zero_.StartAgain();
  return true;
}

void ScaledSums::AddToTotal() {
  IrBuilder& b = nest_.builder;
  const int64_t offset = OffsetHere();
  llvm::AllocaInst* integers = integers_.at(offset);
  llvm::AllocaInst* total = totals_.at(offset);
  ExpressionEmitter values(nest_.state, nest_.plan.accesses.at(tile_.block));
  llvm::Value* beside =
      dot_.block_scale->zero.defined() ? Load(nest_, beside_zero_.SumHere()) : nullptr;
  b.CreateStore(WithScaled(nest_, dot_, values, Load(nest_, integers), beside, Load(nest_, total)),
                total);
  b.CreateStore(llvm::Constant::getNullValue(integers->getAllocatedType()), integers);
}

void ScaledSums::ForEachPosition(size_t from, const LoopEmitter::Body& body) {
  if (from == tile_.spatial.size()) return body();
  nest_.Iterate(tile_.spatial[from], true, [&] { ForEachPosition(from + 1, body); });
}

}  // namespace bayloom::codegen
