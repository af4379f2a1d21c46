// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/dot_emitter.h"

#include <algorithm>
#include <vector>

#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {
namespace {

llvm::Value* LoadPacked(NestContext& nest, const plan::DotPlan& dot,
                        const plan::PlacedAccess& access, ExpressionEmitter& values,
                        llvm::Value* guard) {
  const int64_t step = access.affine.CoefficientOf(dot.digit);
  IndexValue index = nest.digits.Evaluate(access.affine);
  const int depth = static_cast<int>(dot.depth);
  const plan::Chunk& chunk = nest.state.chunk;
  llvm::Value* dynamic = values.DynamicOffset(access);
  if (step == 1) return nest.memory.LoadBits(access.buffer, index, dynamic, depth, chunk, guard);
  std::vector<llvm::Value*> elements;
  for (int i = 0; i < depth; ++i, index.constant += step) {
    elements.push_back(nest.memory.LoadBits(access.buffer, index, dynamic, 1, chunk, guard));
  }
  return Pack(nest.builder, elements);
}

/// Packs elements of which each is loaded or padding by itself.
PackedFactor EmitApart(NestContext& nest, const plan::DotPlan& dot, const tensor::DotFactor& factor,
                       const plan::BlockAccesses& accesses) {
  std::vector<llvm::Value*> elements;
  int lanes = 1;
  nest.loops.Repeat(dot.digit, dot.depth, [&] {
    ExpressionEmitter values(nest.state, accesses);
    elements.push_back(values.Emit(factor.value));
    lanes = std::max(lanes, LanesOf(elements.back()));
  });
  for (llvm::Value*& element : elements) element = Splat(nest.builder, element, lanes);
  return {Pack(nest.builder, elements), factor.dtype()};
}

llvm::Value* WithPart(NestContext& nest, const plan::DotPlan& dot, const PackedFactor& unshifted,
                      const PackedFactor& b, llvm::Value* old, ShiftSums* shift) {
  IrBuilder& builder = nest.builder;
  if (!dot.IsShifted()) return EmitDot(builder, dot.method, unshifted, b, old, dot.in_halves);
  const PackedFactor a = Shifted(builder, unshifted, nest.state.chunk.width);
  const PackedFactor added = ShiftOf(a);
  if (shift == nullptr) {
    llvm::Value* none = llvm::Constant::getNullValue(old->getType());
    llvm::Value* too_much = EmitDot(builder, dot.method, added, b, none);
    return builder.CreateSub(EmitDot(builder, dot.method, a, b, old), too_much);
  }
  if (llvm::AllocaInst* slot = shift->ToAddHere()) {
    llvm::Value* sum = builder.CreateLoad(slot->getAllocatedType(), slot);
    builder.CreateStore(EmitDot(builder, dot.method, added, b, sum), slot);
  }
  return EmitDot(builder, dot.method, a, b, old);
}

llvm::Value* WithProducts(NestContext& nest, const plan::DotPlan& dot,
                          const plan::BlockAccesses& accesses, ExpressionEmitter& values,
                          llvm::Value* old, ShiftSums* shift) {
  old = Splat(nest.builder, old, nest.state.chunk.width);
  const PackedFactor a = EmitFactor(nest, dot, dot.a, accesses, values);
  const PackedFactor b = EmitFactor(nest, dot, dot.b, accesses, values);
  if (dot.parts == 1) return WithPart(nest, dot, a, b, old, shift);
  for (int part = 0; part < dot.parts; ++part) {
    old = WithPart(nest, dot, PartOf(nest.builder, a, part), PartOf(nest.builder, b, part), old,
                   shift);
  }
  return old;
}

/// The term's integers, summed up from zero and scaled.
llvm::Value* WithScaledTerm(NestContext& nest, const plan::DotPlan& dot, ExpressionEmitter& values,
                            llvm::Value* old) {
  const int lanes = nest.state.chunk.width;
  llvm::Value* none = llvm::Constant::getNullValue(
      RegisterType(nest.builder.getContext(), tensor::DType::kInt32, lanes));
  llvm::Value* beside =
      dot.block_scale->zero.defined() ? WithBesideZero(nest, dot, values, none) : nullptr;
  return WithScaled(nest, dot, values, WithIntegers(nest, dot, values, none), beside, old);
}

/// The part of its byte that each element is.
PackedFactor TakeParts(NestContext& nest, const plan::DotPlan& dot, const tensor::DotFactor& factor,
                       ExpressionEmitter& values, llvm::Value* bytes) {
  IrBuilder& b = nest.builder;
  const int lanes = LanesOf(bytes);
  llvm::Value* shift = values.Emit(factor.shift);
  shift = b.CreateZExtOrTrunc(shift, bytes->getType()->getScalarType());
  llvm::Value* mask = Splat(
      b, PackedLiteral(b, tensor::DType::kUInt8, factor.mask, static_cast<int>(dot.depth)), lanes);
  return {b.CreateAnd(b.CreateLShr(bytes, Splat(b, shift, lanes)), mask), factor.dtype()};
}

/// Without lanes there is nothing for the instruction: the loop is run after all.
llvm::Value* WithProductsOneByOne(NestContext& nest, const plan::DotPlan& dot,
                                  tensor::BlockId block, llvm::Value* old) {
  nest.loops.Repeat(dot.digit, dot.depth, [&] {
    ExpressionEmitter values(nest.state, nest.plan.accesses.at(block));
    old = WithOneMore(nest.state, nest.program.blocks[block], values, old);
  });
  return old;
}

}  // namespace

PackedFactor EmitFactor(NestContext& nest, const plan::DotPlan& dot,
                        const tensor::DotFactor& factor, const plan::BlockAccesses& accesses,
                        ExpressionEmitter& values) {
  if (plan::IsTakenApart(nest.program, dot, factor)) return EmitApart(nest, dot, factor, accesses);
  IrBuilder& b = nest.builder;
  const plan::PlacedAccess& access = accesses.loads.at(factor.load.get());
  llvm::Value* condition = factor.condition.defined() ? values.Emit(factor.condition) : b.getTrue();
  const auto* known = llvm::dyn_cast<llvm::Constant>(condition);
  if (factor.shift.defined()) {
    return TakeParts(nest, dot, factor, values, LoadPacked(nest, dot, access, values, nullptr));
  }
  if (known && known->isAllOnesValue()) {
    return {LoadPacked(nest, dot, access, values, nullptr), factor.dtype()};
  }
  llvm::Value* padding =
      PackedLiteral(b, factor.dtype(), *factor.otherwise, static_cast<int>(dot.depth));
  if (known && known->isNullValue()) return {padding, factor.dtype()};
  llvm::Value* packed = LoadPacked(nest, dot, access, values, condition);
  const int lanes = std::max(LanesOf(condition), LanesOf(packed));
  packed =
      b.CreateSelect(Splat(b, condition, lanes), Splat(b, packed, lanes), Splat(b, padding, lanes));
  return {packed, factor.dtype()};
}

llvm::Value* WithTerm(NestContext& nest, tensor::BlockId block, ExpressionEmitter& values,
                      llvm::Value* old, ShiftSums* shift) {
  const auto dot = nest.plan.dots.find(block);
  if (dot == nest.plan.dots.end()) {
    return WithOneMore(nest.state, nest.program.blocks[block], values, old);
  }
  if (nest.state.chunk.width == 1) return WithProductsOneByOne(nest, dot->second, block, old);
  if (dot->second.block_scale) return WithScaledTerm(nest, dot->second, values, old);
  return WithProducts(nest, dot->second, nest.plan.accesses.at(block), values, old, shift);
}

llvm::Value* WithIntegers(NestContext& nest, const plan::DotPlan& dot, ExpressionEmitter& values,
                          llvm::Value* integers) {
  return WithProducts(nest, dot, nest.plan.accesses.at(dot.block), values, integers, nullptr);
}

llvm::Value* WithBesideZero(NestContext& nest, const plan::DotPlan& dot, ExpressionEmitter& values,
                            llvm::Value* beside) {
  IrBuilder& b = nest.builder;
  const PackedFactor other =
      EmitFactor(nest, dot, dot.BesideZero(), nest.plan.accesses.at(dot.block), values);
  const tensor::DType dtype = (dot.zero_of_a ? dot.a : dot.b).dtype();
  const int depth = static_cast<int>(dot.depth / dot.parts);
  const PackedFactor ones{PackedLiteral(b, dtype, 1, depth), dtype};
  for (int part = 0; part < dot.parts; ++part) {
    const PackedFactor taken = dot.parts == 1 ? other : PartOf(b, other, part);
    beside = dot.zero_of_a ? EmitDot(b, dot.method, ones, taken, beside, dot.in_halves)
                           : EmitDot(b, dot.method, taken, ones, beside, dot.in_halves);
  }
  return beside;
}

llvm::Value* WithScaled(NestContext& nest, const plan::DotPlan& dot, ExpressionEmitter& values,
                        llvm::Value* integers, llvm::Value* beside, llvm::Value* total) {
  IrBuilder& b = nest.builder;
  const int lanes = LanesOf(integers);
  if (dot.in_halves) integers = SumsOfHalves(b, integers);
  if (beside != nullptr) {
    if (dot.in_halves) beside = SumsOfHalves(b, beside);
    llvm::Value* zero = Splat(b, values.Emit(dot.block_scale->zero), lanes);
    integers = b.CreateSub(integers, b.CreateMul(beside, zero));
  }
  llvm::Value* floats = EmitCast(b, integers, tensor::DType::kInt32, tensor::DType::kFloat32);
  llvm::Value* scale = Splat(b, values.Emit(dot.block_scale->scale), lanes);
  return EmitMultiplyAdd(b, floats, scale, Splat(b, total, lanes));
}

}  // namespace bayloom::codegen
