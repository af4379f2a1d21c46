// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/nest.h"
#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {
namespace {

/// From this many additions on, adding the old value last pays: fewer roundings for one addition.
constexpr int64_t kMinChainOfItsOwn = 32;

}  // namespace

void NestEmitter::EmitTile(const plan::AccumulatorTile& tile) {
  active_.push_back(
      {&tile, plan::GuardsOf(program_.blocks[tile.block], plan_.accesses.at(tile.block))});
  // What is left out must be missing in the part that is taken away, too; and where a row is left
  // out, its partner is not.
  if (IsShifted(tile) || PairsOf(tile) != nullptr) active_.back().guards.clear();
  if (const auto dot = plan_.dots.find(tile.block); dot != plan_.dots.end()) {
    // What differs among the products of an instruction is left to their factors.
    std::erase_if(active_.back().guards, [&](const plan::Guard& guard) {
      return guard.slack.CoefficientOf(dot->second.digit) != 0;
    });
  }
  if (IsShifted(tile)) active_.back().unshifted = UnshiftedIndex(tile);
  const bool in_tiles = TileProductOf(tile) != nullptr;
  if (!in_tiles) active_.back().blocks = plan::PlanSumBlocks(program_, plan_, tile);
  const bool is_long =
      plan::SumsFloats(program_, tile) && plan::ChainLength(program_, tile) >= kMinChainOfItsOwn;
  active_.back().adds_old =
      !tile.starts_neutral && (is_long || in_tiles || PairsOf(tile) != nullptr);
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

void NestEmitter::EmitTileAt(const plan::AccumulatorTile& tile) {
  const tensor::Block& block = program_.blocks[tile.block];
  const tensor::Affine& offset = plan_.accesses.at(tile.block).store.affine;
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  Slots& slots = active_.back();
  ForEachPosition(tile, 0, [&] {
    const int lanes = LanesOfSlots(tile);
    llvm::Type* type = RegisterType(builder_.getContext(), dtype, lanes);
    const int64_t at = digits_.Evaluate(offset).constant;
    if (const plan::TileProduct* product = TileProductOf(tile)) {
      if (FirstRowAt(*product, tile, at) == at) slots.by_offset[at] = NewTileRegister(*product);
      return;
    }
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
    builder_.CreateStore(
        from_neutral ? Splat(builder_, NeutralValue(state_, block), lanes) : StartValue(tile),
        slot);
  });
  AddFoldRegisters(slots);
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
  slots.others.clear();
  slots.totals.clear();
  slots.stored.clear();
  slots.shifts.clear();
}

llvm::Value* NestEmitter::RegisterValue(const Slots& slots, int64_t offset) {
  llvm::Value* value = TurnsCombined(slots, offset);
  if (!slots.blocks) return value;
  llvm::AllocaInst* total = slots.totals.at(offset);
  return builder_.CreateFAdd(builder_.CreateLoad(total->getAllocatedType(), total), value);
}

llvm::Value* NestEmitter::FinalValue(Slots& slots, int64_t offset) {
  const plan::TileProduct* product = TileProductOf(*slots.tile);
  llvm::Value* value = product                 ? RowOfRegister(*product, slots, offset)
                       : IsPaired(*slots.tile) ? RowOfPair(slots, offset)
                                               : RegisterValue(slots, offset);
  if (!slots.shifts.empty() && state_.chunk.width > 1) {
    llvm::AllocaInst* shift = slots.shifts.at(digits_.Evaluate(slots.unshifted).constant);
    value = builder_.CreateSub(value, builder_.CreateLoad(shift->getAllocatedType(), shift));
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
void NestEmitter::EmitEpilogue(const plan::TileEpilogue& epilogue, tensor::BufferId result,
                               llvm::Value* value) {
  const tensor::Block& block = epilogue.block;
  ExpressionEmitter values(state_, epilogue.accesses);
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad && e->index == result) values.Define(*e, value);
  });
  memory_.Store(block.output, digits_.Evaluate(epilogue.accesses.store.affine), state_.chunk,
                values.Emit(block.value));
}

void NestEmitter::ForEachPosition(const plan::AccumulatorTile& tile, size_t from,
                                  const Body& body) {
  if (from == tile.spatial.size()) {
    body();
    return;
  }
  Iterate(tile.spatial[from], true, [&] { ForEachPosition(tile, from + 1, body); });
}

llvm::Value* NestEmitter::StartValue(const plan::AccumulatorTile& tile) {
  const tensor::Block& block = program_.blocks[tile.block];
  llvm::Value* value = tile.starts_neutral ? NeutralValue(state_, block) : OldValue(tile.block);
  return Splat(builder_, value, state_.chunk.width);
}

llvm::Value* NestEmitter::OldValue(tensor::BlockId id) {
  return bayloom::codegen::OldValue(state_, program_.blocks[id], plan_.accesses.at(id).store);
}

llvm::Value* NestEmitter::Combined(tensor::BlockId id, ExpressionEmitter& values, llvm::Value* old,
                                   const Slots* slots) {
  const auto dot = plan_.dots.find(id);
  if (dot == plan_.dots.end()) return WithOneMore(state_, program_.blocks[id], values, old);
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
  if (const plan::TileProduct* product = TileProductOf(*slots->tile)) {
    EmitTileProduct(*product, *slots);
    return;
  }
  if (IsPaired(*slots->tile)) {
    EmitRowPair(*slots, values);
    return;
  }
  llvm::AllocaInst* slot = RegistersOf(*slots, index.constant)[fold_turn_];
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
