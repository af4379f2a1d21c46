// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/codegen/cpu/nest.h"

namespace bayloom::codegen {
namespace {

/// The tile's loop number `i` in the order in which EmitNest runs them.
tensor::LoopId LoopOf(const plan::AccumulatorTile& tile, size_t i) {
  return i < tile.reduction.size() ? tile.reduction[i] : tile.spatial[i - tile.reduction.size()];
}

size_t LoopCount(const plan::AccumulatorTile& tile) {
  return tile.reduction.size() + tile.spatial.size();
}

/// LLVM moves up to four loads of neighbours together, in front of the first one's use: more
/// registers than a tile that fills them has left. It moves none across a fence, which is no
/// instruction of the processor.
void KeepLoadsHere(IrBuilder& builder) {
  builder.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

}  // namespace

void NestEmitter::EmitNest(const Slots& slots, size_t from) {
  const plan::AccumulatorTile& tile = *slots.tile;
  EmitGuarded(slots, from, [&] {
    if (from == LoopCount(tile)) {
      EmitBlock(tile.block);
      return;
    }
    const tensor::LoopId loop = LoopOf(tile, from);
    const bool unroll = from >= tile.reduction.size() || plan_.unrolled.contains(loop);
    const bool in_turn = tile.loads_in_turn && from == tile.reduction.size();
    Iterate(loop, unroll, [&] {
      if (in_turn) KeepLoadsHere(builder_);
      EmitNest(slots, from + 1);
    });
  });
}

/// How many of the tile's loops have to be entered until it is decided whether the guard holds.
size_t NestEmitter::DecidingLoops(const plan::AccumulatorTile& tile,
                                  const plan::Guard& guard) const {
  const auto decides = [&](tensor::DigitId digit) {
    return tile.StepsOf(program_, digit) > 1 && guard.slack.CoefficientOf(digit) != 0;
  };
  for (size_t count = LoopCount(tile); count > 0; --count) {
    const tensor::LoopId loop = LoopOf(tile, count - 1);
    const auto vector = plan_.vector_loops.find(loop);
    const bool decided = vector == plan_.vector_loops.end()
                             ? std::ranges::any_of(program_.loops[loop].digits, decides)
                             : std::ranges::any_of(vector->second.outer, decides) ||
                                   std::ranges::any_of(vector->second.lanes, decides);
    if (decided) return count;
  }
  return 0;
}

/// What the guards skip is skipped as early as possible: padded rows before their columns are
/// looked at. A condition that differs between the lanes of a register is left to the block.
void NestEmitter::EmitGuarded(const Slots& slots, size_t loops, const Body& body) {
  llvm::Value* condition = nullptr;
  std::vector<const tensor::ExprNode*> learnt;
  for (const plan::Guard& guard : slots.guards) {
    if (DecidingLoops(*slots.tile, guard) != loops) continue;
    const tensor::IndexRange range = digits_.RangeOf(guard.slack);
    if (range.max < 0) return;
    const IndexValue slack = digits_.Evaluate(guard.slack);
    if (range.min >= 0 || !slack.lanes.empty()) continue;
    llvm::Value* holds = builder_.CreateICmpSGE(addresses_.Scalar(slack), builder_.getInt64(0));
    condition = condition ? builder_.CreateAnd(condition, holds) : holds;
    learnt.push_back(guard.condition);
  }
  if (!condition) {
    body();
    return;
  }
  state_.known.insert(learnt.begin(), learnt.end());
  EmitIf(condition, body);
  for (const tensor::ExprNode* known : learnt) state_.known.erase(known);
}

/// `body` stores to nothing but slots.
void NestEmitter::EmitIf(llvm::Value* condition, const Body& body) {
  MemoryEmitter::Loaded loaded = memory_.loaded();
  loops_.EmitIf(condition, body);
  memory_.RestoreLoads(std::move(loaded));
}

}  // namespace bayloom::codegen
