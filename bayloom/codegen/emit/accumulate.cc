// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <stdexcept>

#include "bayloom/codegen/internal/emit/arithmetic.h"
#include "bayloom/codegen/internal/emit/nest.h"

namespace bayloom::codegen {
namespace {

/// From this many additions on, adding the old value last pays: fewer roundings for one addition.
constexpr int64_t kMinChainOfItsOwn = 32;

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

llvm::Value* NestEmitter::Neutral(const tensor::Block& block) {
  const tensor::Expr neutral =
      tensor::NeutralElement(block.reduction, program_.buffers[block.output].dtype);
  return EmitLiteral(builder_, *neutral);
}

void NestEmitter::EmitTile(const AccumulatorTile& tile) {
  active_.push_back({&tile, GuardsOf(program_.blocks[tile.block], plan_.accesses.at(tile.block))});
  if (IsShifted(tile)) {
    // What is left out must be missing in the part that is taken away, too.
    active_.back().guards.clear();
    active_.back().unshifted = UnshiftedIndex(tile);
  }
  active_.back().blocks = PlanSumBlocks(program_, plan_, tile);
  active_.back().adds_old = !tile.starts_neutral && SumsFloats(program_, tile) &&
                            ChainLength(program_, tile) >= kMinChainOfItsOwn;
  Body emit = [&] { EmitTileAt(tile); };
  for (auto cut = tile.cuts.rbegin(); cut != tile.cuts.rend(); ++cut) {
    const int64_t passes = program_.digit_extents[cut->digit] / cut->steps;
    emit = [this, inside = std::move(emit), cut, passes] {
      RunLoop(cut->digit, passes, cut->steps, inside);
    };
  }
  emit();
  active_.pop_back();
}

void NestEmitter::EmitTileAt(const AccumulatorTile& tile) {
  const tensor::Block& block = program_.blocks[tile.block];
  const tensor::Affine& offset = plan_.accesses.at(tile.block).store.affine;
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  Slots& slots = active_.back();
  ForEachPosition(tile, 0, [&] {
    const int lanes = LanesOfSlots(tile);
    llvm::Type* type = RegisterType(builder_.getContext(), dtype, lanes);
    const int64_t at = digits_.Evaluate(offset).constant;
    llvm::AllocaInst* slot = slots.by_offset[at] = NewSlot(type);
    if (slots.blocks) {
      llvm::AllocaInst* total = slots.totals[at] = NewSlot(type);
      builder_.CreateStore(llvm::Constant::getNullValue(type), total);
    }
    if (IsShifted(tile) && state_.chunk.width > 1) {
      llvm::AllocaInst*& shift = slots.shifts[digits_.Evaluate(slots.unshifted).constant];
      if (!shift) {
        shift = NewSlot(type);
        builder_.CreateStore(llvm::Constant::getNullValue(type), shift);
      }
    }
    const bool from_neutral = slots.blocks || slots.adds_old || plan_.folds.contains(tile.block);
    builder_.CreateStore(from_neutral ? Splat(builder_, Neutral(block), lanes) : StartValue(tile),
                         slot);
  });
  if (tile.alone) {
    EmitNest(slots, 0);
  } else {
    EmitPlainLoop(tile.top);
  }
  ForEachPosition(tile, 0, [&] {
    const IndexValue index = digits_.Evaluate(offset);
    llvm::Value* value = FinalValue(slots, index.constant);
    const auto epilogue = plan_.epilogues.find(tile.block);
    if (epilogue == plan_.epilogues.end()) {
      memory_.Store(block.output, index, state_.chunk, value);
    } else {
      EmitEpilogue(epilogue->second, block.output, value);
    }
  });
  slots.by_offset.clear();
  slots.totals.clear();
  slots.shifts.clear();
}

llvm::Value* NestEmitter::FinalValue(const Slots& slots, int64_t offset) {
  llvm::AllocaInst* slot = slots.by_offset.at(offset);
  llvm::Value* value = builder_.CreateLoad(slot->getAllocatedType(), slot);
  if (!slots.shifts.empty() && state_.chunk.width > 1) {
    llvm::AllocaInst* shift = slots.shifts.at(digits_.Evaluate(slots.unshifted).constant);
    value = builder_.CreateSub(value, builder_.CreateLoad(shift->getAllocatedType(), shift));
  }
  if (slots.blocks) {
    llvm::AllocaInst* total = slots.totals.at(offset);
    value = builder_.CreateFAdd(builder_.CreateLoad(total->getAllocatedType(), total), value);
  }
  const tensor::Block& block = program_.blocks[slots.tile->block];
  const bool folded = plan_.folds.contains(slots.tile->block);
  if (folded) value = Folded(block, value);
  if (!slots.tile->starts_neutral && (slots.blocks || slots.adds_old || folded)) {
    value = EmitBinary(builder_, CombiningOp(block.reduction), program_.buffers[block.output].dtype,
                       StartValue(*slots.tile), value);
  }
  return value;
}

/// Computes the consumer of a reduction's result where that is still in a register.
void NestEmitter::EmitEpilogue(const TileEpilogue& epilogue, tensor::BufferId result,
                               llvm::Value* value) {
  const tensor::Block& block = epilogue.block;
  ExpressionEmitter values(state_, epilogue.accesses);
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad && e->index == result) values.Define(*e, value);
  });
  memory_.Store(block.output, digits_.Evaluate(epilogue.accesses.store.affine), state_.chunk,
                values.Emit(block.value));
}

void NestEmitter::ForEachPosition(const AccumulatorTile& tile, size_t from, const Body& body) {
  if (from == tile.spatial.size()) {
    body();
    return;
  }
  Iterate(tile.spatial[from], true, [&] { ForEachPosition(tile, from + 1, body); });
}

llvm::Value* NestEmitter::StartValue(const AccumulatorTile& tile) {
  const tensor::Block& block = program_.blocks[tile.block];
  llvm::Value* value = tile.starts_neutral ? Neutral(block) : OldValue(tile.block);
  return Splat(builder_, value, state_.chunk.width);
}

/// True in the first of the iterations that the loops around make: all reduction iterators are
/// zero but for what is reduced inside the tile.
llvm::Value* NestEmitter::IsFirst(const tensor::Block& block) {
  llvm::Value* first = builder_.getTrue();
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    tensor::Affine outside = block.bindings[i];
    std::erase_if(outside.terms,
                  [&](const tensor::Affine::Term& term) { return !digits_[term.digit].bound; });
    llvm::Value* value = addresses_.Scalar(digits_.Evaluate(outside));
    llvm::Value* is_zero = builder_.CreateICmpEQ(value, builder_.getInt64(0));
    first = builder_.CreateAnd(first, is_zero);
  }
  return first;
}

/// What the output holds before it is combined with: for kReduce blocks the neutral element the
/// first time.
llvm::Value* NestEmitter::OldValue(tensor::BlockId id) {
  const tensor::Block& block = program_.blocks[id];
  const IndexValue index = digits_.Evaluate(plan_.accesses.at(id).store.affine);
  llvm::Value* first =
      block.kind == tensor::BlockKind::kReduce ? IsFirst(block) : builder_.getFalse();
  if (first == builder_.getTrue()) return Neutral(block);
  llvm::Value* old = memory_.Load(block.output, index, nullptr, state_.chunk, nullptr);
  if (first == builder_.getFalse()) return old;
  return builder_.CreateSelect(Splat(builder_, first, LanesOf(old)),
                               Splat(builder_, Neutral(block), LanesOf(old)), old);
}

llvm::Value* NestEmitter::WithOneMore(const tensor::Block& block, ExpressionEmitter& values,
                                      llvm::Value* old) {
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  const bool fusable = dtype == tensor::DType::kFloat32 || dtype == tensor::DType::kFloat64;
  const tensor::Expr& value = block.value;
  if (fusable && block.reduction == tensor::Reduction::kSum && value->op == tensor::ExprOp::kMul) {
    llvm::Value* a = values.Emit(value->operands[0]);
    return EmitMultiplyAdd(builder_, a, values.Emit(value->operands[1]), old);
  }
  // Of an extreme, whether the first operand is a number is asked: that of the new value is known
  // before the old one is.
  return EmitBinary(builder_, CombiningOp(block.reduction), dtype, values.Emit(value), old);
}

llvm::Value* NestEmitter::Combined(tensor::BlockId id, ExpressionEmitter& values, llvm::Value* old,
                                   const Slots* slots) {
  const auto dot = plan_.dots.find(id);
  if (dot == plan_.dots.end()) return WithOneMore(program_.blocks[id], values, old);
  if (state_.chunk.width == 1) return CombinedOneByOne(dot->second, id, old);
  return CombinedDot(dot->second, plan_.accesses.at(id), values, old, slots);
}

void NestEmitter::EmitReduction(tensor::BlockId id, ExpressionEmitter& values) {
  const tensor::Block& block = program_.blocks[id];
  const IndexValue index = digits_.Evaluate(plan_.accesses.at(id).store.affine);
  const auto slots = std::ranges::find_if(
      active_, [&](const Slots& candidate) { return candidate.tile->block == id; });
  if (slots == active_.end()) {
    llvm::Value* combined = Combined(id, values, OldValue(id), nullptr);
    memory_.Store(block.output, index, state_.chunk, combined);
    return;
  }
  llvm::AllocaInst* slot = slots->by_offset.at(index.constant);
  llvm::Value* old = builder_.CreateLoad(slot->getAllocatedType(), slot);
  const int lanes = LanesOf(old);
  if (plan_.folds.contains(id) && (state_.chunk.width < lanes || state_.chunk.active < lanes)) {
    llvm::Value* rest = WithNeutralLanes(block, values.Emit(block.value), lanes);
    const tensor::DType dtype = program_.buffers[block.output].dtype;
    builder_.CreateStore(EmitBinary(builder_, CombiningOp(block.reduction), dtype, rest, old),
                         slot);
    return;
  }
  llvm::Value* combined = Combined(id, values, old, &*slots);
  builder_.CreateStore(Splat(builder_, combined, state_.chunk.width), slot);
}

}  // namespace bayloom::codegen
