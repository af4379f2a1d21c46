// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/codegen/cpu/dot_product.h"
#include "bayloom/codegen/cpu/nest.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {

bool NestEmitter::IsShifted(const plan::AccumulatorTile& tile) const {
  const auto dot = plan_.dots.find(tile.block);
  return dot != plan_.dots.end() && dot->second.IsShifted() && TileProductOf(tile) == nullptr;
}

/// The index of the operand that is not shifted, without what the reduction and loops around the
/// tile add.
tensor::Affine NestEmitter::UnshiftedIndex(const plan::AccumulatorTile& tile) const {
  const plan::DotPlan& dot = plan_.dots.at(tile.block);
  tensor::Affine index = plan_.accesses.at(tile.block).loads.at(dot.b.load.get()).affine;
  index.constant = 0;
  std::erase_if(index.terms, [&](const tensor::Affine::Term& term) {
    return std::ranges::none_of(tile.spatial, [&](tensor::LoopId loop) {
      return std::ranges::count(program_.loops[loop].digits, term.digit) > 0;
    });
  });
  return index;
}

/// Positions that differ in nothing that the unshifted operand depends on share what is taken away:
/// the first of them adds it up.
bool NestEmitter::IsFirstWithShift(const Slots& slots) const {
  return std::ranges::all_of(slots.tile->spatial, [&](tensor::LoopId loop) {
    return std::ranges::all_of(program_.loops[loop].digits, [&](tensor::DigitId digit) {
      return slots.unshifted.CoefficientOf(digit) != 0 || digits_[digit].offset == 0;
    });
  });
}

llvm::Value* NestEmitter::LoadPacked(const plan::DotPlan& dot, const plan::PlacedAccess& access,
                                     llvm::Value* guard) {
  const int64_t step = access.affine.CoefficientOf(dot.digit);
  IndexValue index = digits_.Evaluate(access.affine);
  const int depth = static_cast<int>(dot.depth);
  if (step == 1) return memory_.LoadBits(access.buffer, index, depth, state_.chunk, guard);
  std::vector<llvm::Value*> elements;
  for (int i = 0; i < depth; ++i, index.constant += step) {
    elements.push_back(memory_.LoadBits(access.buffer, index, 1, state_.chunk, guard));
  }
  return Pack(builder_, elements);
}

/// Packs elements of which each is loaded or padding by itself.
PackedFactor NestEmitter::EmitApart(const plan::DotPlan& dot, const tensor::DotFactor& factor,
                                    const plan::BlockAccesses& accesses) {
  std::vector<llvm::Value*> elements;
  int lanes = 1;
  Repeat(dot.digit, dot.depth, [&] {
    ExpressionEmitter values(state_, accesses);
    elements.push_back(values.Emit(factor.value));
    lanes = std::max(lanes, LanesOf(elements.back()));
  });
  for (llvm::Value*& element : elements) element = Splat(builder_, element, lanes);
  return {Pack(builder_, elements), factor.dtype()};
}

PackedFactor NestEmitter::EmitFactor(const plan::DotPlan& dot, const tensor::DotFactor& factor,
                                     const plan::BlockAccesses& accesses,
                                     ExpressionEmitter& values) {
  if (plan::IsTakenApart(program_, dot, factor)) return EmitApart(dot, factor, accesses);
  const plan::PlacedAccess& access = accesses.loads.at(factor.load.get());
  llvm::Value* condition =
      factor.condition.defined() ? values.Emit(factor.condition) : builder_.getTrue();
  const auto* known = llvm::dyn_cast<llvm::Constant>(condition);
  if (known && known->isAllOnesValue()) return {LoadPacked(dot, access, nullptr), factor.dtype()};
  llvm::Value* padding =
      PackedLiteral(builder_, factor.dtype(), *factor.otherwise, static_cast<int>(dot.depth));
  if (known && known->isNullValue()) return {padding, factor.dtype()};
  llvm::Value* packed = LoadPacked(dot, access, condition);
  const int lanes = std::max(LanesOf(condition), LanesOf(packed));
  packed = builder_.CreateSelect(Splat(builder_, condition, lanes), Splat(builder_, packed, lanes),
                                 Splat(builder_, padding, lanes));
  return {packed, factor.dtype()};
}

llvm::Value* NestEmitter::CombinedDot(const plan::DotPlan& dot, const plan::BlockAccesses& accesses,
                                      ExpressionEmitter& values, llvm::Value* old,
                                      const Slots* slots) {
  old = Splat(builder_, old, state_.chunk.width);
  const PackedFactor a = EmitFactor(dot, dot.a, accesses, values);
  const PackedFactor b = EmitFactor(dot, dot.b, accesses, values);
  if (dot.parts == 1) return CombinedPart(dot, a, b, old, slots);
  for (int part = 0; part < dot.parts; ++part) {
    old = CombinedPart(dot, PartOf(builder_, a, part), PartOf(builder_, b, part), old, slots);
  }
  return old;
}

llvm::Value* NestEmitter::CombinedPart(const plan::DotPlan& dot, const PackedFactor& unshifted,
                                       const PackedFactor& b, llvm::Value* old,
                                       const Slots* slots) {
  if (!dot.IsShifted()) return EmitDot(builder_, dot.method, unshifted, b, old);
  const PackedFactor a = Shifted(builder_, unshifted, state_.chunk.width);
  const PackedFactor shift = ShiftOf(a);
  if (slots == nullptr) {
    llvm::Value* none = llvm::Constant::getNullValue(old->getType());
    llvm::Value* too_much = EmitDot(builder_, dot.method, shift, b, none);
    return builder_.CreateSub(EmitDot(builder_, dot.method, a, b, old), too_much);
  }
  if (IsFirstWithShift(*slots)) {
    llvm::AllocaInst* slot = slots->shifts.at(digits_.Evaluate(slots->unshifted).constant);
    llvm::Value* sum = builder_.CreateLoad(slot->getAllocatedType(), slot);
    builder_.CreateStore(EmitDot(builder_, dot.method, shift, b, sum), slot);
  }
  return EmitDot(builder_, dot.method, a, b, old);
}

/// Without lanes there is nothing for the instruction: the loop is run after all.
llvm::Value* NestEmitter::CombinedOneByOne(const plan::DotPlan& dot, tensor::BlockId block,
                                           llvm::Value* old) {
  Repeat(dot.digit, dot.depth, [&] {
    ExpressionEmitter values(state_, plan_.accesses.at(block));
    old = WithOneMore(state_, program_.blocks[block], values, old);
  });
  return old;
}

}  // namespace bayloom::codegen
