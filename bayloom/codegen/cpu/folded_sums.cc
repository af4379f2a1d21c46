// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/folded_sums.h"

#include <algorithm>
#include <numeric>

#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {
void FoldedSums::BeginLoops() {
  const int64_t registers = plan::FoldRegisters(fold_, std::ssize(first_));
  for (const auto& [offset, first] : first_) {
    llvm::Type* type = first->getAllocatedType();
    for (int64_t i = 1; i < registers; ++i) {
      others_[offset].push_back(nest_.NewSlot(type));
      nest_.builder.CreateStore(
          Splat(nest_.builder, NeutralValue(nest_.state, block_), fold_.width),
          others_[offset].back());
    }
  }
}

std::vector<llvm::AllocaInst*> FoldedSums::RegistersOf(int64_t offset) const {
  std::vector<llvm::AllocaInst*> registers = {first_.at(offset)};
  const auto others = others_.find(offset);
  if (others != others_.end()) {
    registers.insert(registers.end(), others->second.begin(), others->second.end());
  }
  return registers;
}

void FoldedSums::Add(ExpressionEmitter& values) {
  const plan::Chunk& chunk = nest_.state.chunk;
  if (chunk.width == fold_.width && chunk.active == fold_.width) return RegisterSums::Add(values);
  llvm::AllocaInst* slot = RegistersOf(OffsetHere())[turn_];
  llvm::Value* old = nest_.builder.CreateLoad(slot->getAllocatedType(), slot);
  llvm::Value* rest = WithNeutralLanes(values.Emit(block_.value));
  nest_.builder.CreateStore(Combine(rest, old), slot);
}

bool FoldedSums::Iterate(tensor::LoopId loop, bool unroll, const LoopEmitter::Body& body) {
  if (RegisterSums::Iterate(loop, unroll, body)) return true;
  if (fold_.loops.front() != loop) return false;
  IterateFold(unroll, body);
  return true;
}

/// Chunk after chunk goes to the next register.
void FoldedSums::IterateFold(bool unroll, const LoopEmitter::Body& body) {
  const std::vector<plan::Chunk> chunks = fold_.Chunks();
  const auto turns = others_.empty() ? 1 : std::ssize(others_.begin()->second) + 1;
  int64_t first = 0;
  const auto run = [&](const plan::Chunk& chunk, int64_t number) {
    turn_ = static_cast<size_t>(number % turns);
    nest_.loops.RunChunk(fold_, chunk, body);
    turn_ = 0;
  };
  if (!unroll && std::ssize(chunks) > plan::kMaxChunks) {
    const int64_t rounds = fold_.lane_count / fold_.width / turns;
    nest_.RunLoop(fold_.lanes.back(), rounds, turns * fold_.width, [&] {
      for (int64_t turn = 0; turn < turns; ++turn) {
        run({turn * fold_.width, fold_.width, fold_.width}, turn);
      }
    });
    first = rounds * turns;
  }
  for (int64_t i = first; i < std::ssize(chunks); ++i) run(chunks[static_cast<size_t>(i)], i);
}

/// The values of a chunk in the first lanes of a register, neutral ones behind them.
llvm::Value* FoldedSums::WithNeutralLanes(llvm::Value* values) {
  IrBuilder& b = nest_.builder;
  const plan::Chunk chunk = nest_.state.chunk;
  values = Splat(b, values, chunk.width);
  llvm::Value* neutral = Splat(b, NeutralValue(nest_.state, block_), fold_.width);
  if (chunk.width == 1) return b.CreateInsertElement(neutral, values, uint64_t{0});
  std::vector<int> widened(fold_.width, -1), chosen(fold_.width);
  for (int l = 0; l < chunk.active; ++l) widened[l] = l;
  for (int l = 0; l < fold_.width; ++l) chosen[l] = l < chunk.active ? l : fold_.width + l;
  return b.CreateShuffleVector(b.CreateShuffleVector(values, widened), neutral, chosen);
}

/// Combines the lanes of a register, halves with each other.
llvm::Value* FoldedSums::Folded(llvm::Value* lanes) {
  IrBuilder& b = nest_.builder;
  for (int half = LanesOf(lanes) / 2; half > 1; half /= 2) {
    std::vector<int> low(half), high(half);
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), half);
    lanes = Combine(b.CreateShuffleVector(lanes, low), b.CreateShuffleVector(lanes, high));
  }
  return Combine(b.CreateExtractElement(lanes, uint64_t{0}),
                 b.CreateExtractElement(lanes, uint64_t{1}));
}

}  // namespace bayloom::codegen
