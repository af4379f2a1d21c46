// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "bayloom/codegen/cpu/nest.h"
#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {
namespace {

/// Registers that are enough for additions not to wait for each other; a result takes no more than
/// so many of them.
constexpr size_t kRegistersInFlight = 8;

}  // namespace

const NestEmitter::Slots* NestEmitter::FoldedAt(tensor::LoopId loop) const {
  const auto slots = std::ranges::find_if(active_, [&](const Slots& candidate) {
    const auto fold = plan_.folds.find(candidate.tile->block);
    return fold != plan_.folds.end() && fold->second.loops.front() == loop;
  });
  return slots == active_.end() ? nullptr : &*slots;
}

void NestEmitter::AddFoldRegisters(Slots& slots) {
  const auto fold = plan_.folds.find(slots.tile->block);
  if (fold == plan_.folds.end()) return;
  const auto whole = static_cast<size_t>(fold->second.lane_count / fold->second.width);
  const size_t registers =
      std::min({plan::kMaxFoldRegisters, kRegistersInFlight / slots.by_offset.size(), whole});
  const tensor::Block& block = program_.blocks[slots.tile->block];
  for (const auto& [offset, first] : slots.by_offset) {
    llvm::Type* type = first->getAllocatedType();
    for (size_t i = 1; i < registers; ++i) {
      slots.others[offset].push_back(NewSlot(type));
      builder_.CreateStore(Splat(builder_, NeutralValue(state_, block), fold->second.width),
                           slots.others[offset].back());
    }
  }
}

std::vector<llvm::AllocaInst*> NestEmitter::RegistersOf(const Slots& slots, int64_t offset) const {
  std::vector<llvm::AllocaInst*> registers = {slots.by_offset.at(offset)};
  const auto others = slots.others.find(offset);
  if (others != slots.others.end()) {
    registers.insert(registers.end(), others->second.begin(), others->second.end());
  }
  return registers;
}

llvm::Value* NestEmitter::TurnsCombined(const Slots& slots, int64_t offset) {
  const tensor::Block& block = program_.blocks[slots.tile->block];
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  llvm::Value* value = nullptr;
  for (llvm::AllocaInst* slot : RegistersOf(slots, offset)) {
    llvm::Value* held = builder_.CreateLoad(slot->getAllocatedType(), slot);
    value = value ? EmitBinary(builder_, CombiningOp(block.reduction), dtype, value, held) : held;
  }
  return value;
}

/// Chunk after chunk goes to the next register.
void NestEmitter::IterateFold(const Slots& slots, bool unroll, const Body& body) {
  const plan::VectorLoop& fold = plan_.folds.at(slots.tile->block);
  const std::vector<plan::Chunk> chunks = fold.Chunks();
  const auto turns = slots.others.empty() ? 1 : std::ssize(slots.others.begin()->second) + 1;
  int64_t first = 0;
  const auto run = [&](const plan::Chunk& chunk, int64_t number) {
    fold_turn_ = static_cast<size_t>(number % turns);
    RunChunk(fold, chunk, body);
    fold_turn_ = 0;
  };
  if (!unroll && std::ssize(chunks) > plan::kMaxChunks) {
    const int64_t rounds = fold.lane_count / fold.width / turns;
    RunLoop(fold.lanes.back(), rounds, turns * fold.width, [&] {
      for (int64_t turn = 0; turn < turns; ++turn) {
        run({turn * fold.width, fold.width, fold.width}, turn);
      }
    });
    first = rounds * turns;
  }
  for (int64_t i = first; i < std::ssize(chunks); ++i) run(chunks[static_cast<size_t>(i)], i);
}

int NestEmitter::LanesOfSlots(const plan::AccumulatorTile& tile) const {
  const auto fold = plan_.folds.find(tile.block);
  return fold == plan_.folds.end() ? state_.chunk.width : fold->second.width;
}

/// The values of a chunk in the first lanes of a register of so many, neutral ones behind them.
llvm::Value* NestEmitter::WithNeutralLanes(const tensor::Block& block, llvm::Value* values,
                                           int lanes) {
  const plan::Chunk chunk = state_.chunk;
  values = Splat(builder_, values, chunk.width);
  llvm::Value* neutral = Splat(builder_, NeutralValue(state_, block), lanes);
  std::vector<int> widened(lanes, -1), chosen(lanes);
  if (chunk.width == 1) {
    return builder_.CreateInsertElement(neutral, values, uint64_t{0});
  }
  for (int l = 0; l < chunk.active; ++l) widened[l] = l;
  for (int l = 0; l < lanes; ++l) chosen[l] = l < chunk.active ? l : lanes + l;
  return builder_.CreateShuffleVector(builder_.CreateShuffleVector(values, widened), neutral,
                                      chosen);
}

/// Combines the lanes of a register, halves with each other.
llvm::Value* NestEmitter::Folded(const tensor::Block& block, llvm::Value* lanes) {
  const tensor::DType dtype = program_.buffers[block.output].dtype;
  const tensor::ExprOp op = CombiningOp(block.reduction);
  for (int half = LanesOf(lanes) / 2; half > 1; half /= 2) {
    std::vector<int> low(half), high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    lanes = EmitBinary(builder_, op, dtype, builder_.CreateShuffleVector(lanes, low),
                       builder_.CreateShuffleVector(lanes, high));
  }
  return EmitBinary(builder_, op, dtype, builder_.CreateExtractElement(lanes, uint64_t{0}),
                    builder_.CreateExtractElement(lanes, uint64_t{1}));
}

}  // namespace bayloom::codegen
