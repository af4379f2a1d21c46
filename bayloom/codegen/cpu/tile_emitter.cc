// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/tile_emitter.h"

#include <algorithm>

#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {
namespace {

/// From this many additions on, adding the old value last pays: fewer roundings for one addition.
constexpr int64_t kMinChainOfItsOwn = 32;

/// The tile's loop number `i` in the order in which they run.
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

TileEmitter::TileEmitter(NestContext& nest, const plan::AccumulatorTile& tile, TreeEmitter& tree)
    : nest_(nest),
      tile_(tile),
      tree_(tree),
      block_(nest.program.blocks[tile.block]),
      accesses_(nest.plan.accesses.at(tile.block)),
      guards_(plan::GuardsOf(block_, accesses_)) {
  const plan::CpuPlan& plan = nest.plan;
  const bool in_tiles = plan.tile_products.contains(tile.block);
  const bool in_pairs = plan.pairs.contains(tile.block);
  const auto dot = plan.dots.find(tile.block);
  if (dot != plan.dots.end() && dot->second.IsShifted() && !in_tiles) {
    shift_ = std::make_unique<ShiftSums>(nest, tile, dot->second.b.load,
                                         nest.program.buffers[block_.output].dtype);
  }
  // What is left out must be missing in the part that is taken away, too; and where a row is left
  // out, its partner is not.
  if (shift_ || in_pairs) guards_.clear();
  if (dot != plan.dots.end()) {
    // What differs among the products of an instruction is left to their factors.
    std::erase_if(guards_, [&](const plan::Guard& guard) {
      return guard.slack.CoefficientOf(dot->second.digit) != 0;
    });
  }
  const bool is_scaled = dot != plan.dots.end() && dot->second.block_scale;
  if (!in_tiles && !is_scaled) blocks_ = plan::PlanSumBlocks(nest.program, plan, tile);
  const bool is_long = plan::SumsFloats(nest.program, tile) &&
                       plan::ChainLength(nest.program, tile) >= kMinChainOfItsOwn;
  const bool is_apart =
      is_long || in_tiles || in_pairs || blocks_ || plan.folds.contains(tile.block);
  adds_old_ = !tile.starts_neutral && is_apart;
}

void TileEmitter::Emit() {
  Body emit = [&] { EmitPass(); };
  for (auto cut = tile_.cuts.rbegin(); cut != tile_.cuts.rend(); ++cut) {
    const int64_t passes = nest_.program.digit_extents[cut->digit] / cut->steps;
    emit = [this, inside = std::move(emit), cut, passes] {
      nest_.RunLoop(cut->digit, passes, cut->steps, inside);
    };
  }
  emit();
}

void TileEmitter::EmitPass() {
  sums_ = MakeTileSums(nest_, tile_, blocks_, shift_.get());
  const auto offset = [&] { return nest_.digits.Evaluate(accesses_.store.affine); };
  ForEachPosition(0, [&] {
    if (shift_) shift_->Begin();
    sums_->Begin(offset().constant, tile_.starts_neutral || adds_old_ ? nullptr : OldSum());
  });
  sums_->BeginLoops();
  if (tile_.alone) {
    EmitNest();
  } else {
    tree_.EmitLoop(tile_.top);
  }
  ForEachPosition(0, [&] {
    const IndexValue index = offset();
    llvm::Value* value = FinalValue(index.constant);
    const auto epilogue = nest_.plan.epilogues.find(tile_.block);
    if (epilogue == nest_.plan.epilogues.end()) {
      nest_.memory.Store(block_.output, index, nest_.state.chunk, value);
    } else {
      EmitEpilogue(epilogue->second, value);
    }
  });
  sums_.reset();
  if (shift_) shift_->Forget();
}

void TileEmitter::EmitLoopsFrom(size_t from) {
  EmitGuarded(from, [&] {
    if (from == LoopCount(tile_)) return AddTerm();
    const tensor::LoopId loop = LoopOf(tile_, from);
    const bool unroll = from >= tile_.reduction.size() || nest_.plan.unrolled.contains(loop);
    const bool in_turn = tile_.loads_in_turn && from == tile_.reduction.size();
    nest_.Iterate(loop, unroll, [&] {
      if (in_turn) KeepLoadsHere(nest_.builder);
      EmitLoopsFrom(from + 1);
    });
  });
}

void TileEmitter::AddTerm() {
  ExpressionEmitter values(nest_.state, accesses_);
  sums_->Add(values);
}

int64_t TileEmitter::StepsOf(tensor::DigitId digit) const {
  return tile_.StepsOf(nest_.program, digit);
}

bool TileEmitter::Iterate(tensor::LoopId loop, bool unroll, const Body& body) {
  return sums_ && sums_->Iterate(loop, unroll, body);
}

/// How many of the tile's loops have to be entered until it is decided whether the guard holds.
size_t TileEmitter::DecidingLoops(const plan::Guard& guard) const {
  const auto decides = [&](tensor::DigitId digit) {
    return StepsOf(digit) > 1 && guard.slack.CoefficientOf(digit) != 0;
  };
  for (size_t count = LoopCount(tile_); count > 0; --count) {
    const tensor::LoopId loop = LoopOf(tile_, count - 1);
    const auto vector = nest_.plan.vector_loops.find(loop);
    const bool decided = vector == nest_.plan.vector_loops.end()
                             ? std::ranges::any_of(nest_.program.loops[loop].digits, decides)
                             : std::ranges::any_of(vector->second.outer, decides) ||
                                   std::ranges::any_of(vector->second.lanes, decides);
    if (decided) return count;
  }
  return 0;
}

/// What the guards skip is skipped as early as possible: padded rows before their columns are
/// looked at. A condition that differs between the lanes of a register is left to the block.
void TileEmitter::EmitGuarded(size_t loops, const Body& body) {
  IrBuilder& b = nest_.builder;
  llvm::Value* condition = nullptr;
  std::vector<const tensor::ExprNode*> learnt;
  for (const plan::Guard& guard : guards_) {
    if (DecidingLoops(guard) != loops) continue;
    if (nest_.digits.RangeOf(guard.slack).max < 0) return;
    const IndexValue slack = nest_.digits.Evaluate(guard.slack);
    if (nest_.state.Holds(guard) || !slack.lanes.empty()) continue;
    llvm::Value* holds = b.CreateICmpSGE(nest_.addresses.Scalar(slack), b.getInt64(0));
    condition = condition ? b.CreateAnd(condition, holds) : holds;
    learnt.push_back(guard.condition);
  }
  if (!condition) {
    body();
    return;
  }
  nest_.state.known.insert(learnt.begin(), learnt.end());
  EmitIf(condition, body);
  for (const tensor::ExprNode* known : learnt) nest_.state.known.erase(known);
}

/// `body` only stores to variables.
void TileEmitter::EmitIf(llvm::Value* condition, const Body& body) {
  MemoryEmitter::Loaded loaded = nest_.memory.loaded();
  nest_.loops.EmitIf(condition, body);
  nest_.memory.RestoreLoads(std::move(loaded));
}

void TileEmitter::ForEachPosition(size_t from, const Body& body) {
  if (from == tile_.spatial.size()) {
    body();
    return;
  }
  nest_.Iterate(tile_.spatial[from], true, [&] { ForEachPosition(from + 1, body); });
}

llvm::Value* TileEmitter::OldSum() {
  return Splat(nest_.builder, OldValue(nest_.state, block_, accesses_.store),
               nest_.state.chunk.width);
}

llvm::Value* TileEmitter::FinalValue(int64_t offset) {
  llvm::Value* value = sums_->Result(offset);
  if (shift_) value = shift_->TakenAwayFrom(value);
  if (!adds_old_) return value;
  return EmitBinary(nest_.builder, CombiningOp(block_.reduction),
                    nest_.program.buffers[block_.output].dtype, OldSum(), value);
}

/// Computes the consumer of a reduction's result where that is still in a register.
void TileEmitter::EmitEpilogue(const plan::TileEpilogue& epilogue, llvm::Value* value) {
  const tensor::Block& consumer = epilogue.block;
  ExpressionEmitter values(nest_.state, epilogue.accesses);
  tensor::Visit(consumer.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad && e->index == block_.output) values.Define(*e, value);
  });
  nest_.memory.Store(consumer.output, nest_.digits.Evaluate(epilogue.accesses.store.affine),
                     nest_.state.chunk, values.Emit(consumer.value));
}

}  // namespace bayloom::codegen
