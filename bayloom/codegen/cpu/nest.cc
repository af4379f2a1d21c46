// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/nest.h"

#include <algorithm>

#include "bayloom/codegen/cpu/across.h"
#include "bayloom/codegen/cpu/dot_emitter.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {

void NestEmitter::DefineSizes(const std::vector<llvm::Value*>& sizes) {
  for (size_t size = 0; size < sizes.size(); ++size) {
    const auto digit = static_cast<tensor::DigitId>(size);
    nest_.digits[digit] = DigitValue::Running(sizes[size], nest_.program.digit_extents[digit]);
    nest_.addresses.DefineAtEntry(sizes[size]);
  }
}

void NestEmitter::EmitBody(tensor::NodeRef node) {
  for (tensor::NodeRef child : nest_.program.BodyOf(node)) EmitNode(child);
}

void NestEmitter::EmitNode(tensor::NodeRef node) {
  const plan::CpuPlan& plan = nest_.plan;
  if (node.is_block()) {
    if (!plan.absorbed.contains(node.id)) EmitBlock(node.id);
    return;
  }
  if (plan.absorbed_loops.contains(node.id)) return;
  const bool in_parallel = nest_.arguments.worker_workspace != nullptr;
  const auto inside = std::ranges::find_if(
      tiles_, [&](const TileEmitter* tile) { return tile->tile().nest == node; });
  if (inside != tiles_.end()) {
    (*inside)->EmitNest();
  } else if (const auto tile = plan.tiles.find(node.id); tile != plan.tiles.end()) {
    EmitTile(tile->second);
  } else if (nest_.program.loops[node.id].kind == tensor::LoopKind::kParallel && !in_parallel) {
    EmitParallel(node.id);
  } else {
    EmitLoop(node.id);
  }
}

void NestEmitter::EmitLoop(tensor::LoopId loop) {
  const plan::CpuPlan& plan = nest_.plan;
  const auto before = nest_.state.hoisted;
  EmitHoisted(loop);
  if (const auto across = plan.across.find(loop); across != plan.across.end()) {
    EmitAcross(nest_, across->second, *this);
  } else {
    const auto vector = plan.vector_loops.find(loop);
    const tensor::LoopId innermost =
        vector == plan.vector_loops.end() ? loop : vector->second.loops.back();
    nest_.Iterate(loop, plan.unrolled.contains(loop),
                  [&] { EmitBody(tensor::NodeRef::Loop(innermost)); });
  }
  nest_.state.hoisted = before;
}

/// What does not change in the loop is computed in front of it.
void NestEmitter::EmitHoisted(tensor::LoopId loop) {
  const auto hoisted = nest_.plan.hoisted.find(loop);
  if (hoisted == nest_.plan.hoisted.end() || nest_.state.chunk.width > 1) return;
  for (const auto& [block, value] : hoisted->second) {
    const plan::BlockAccesses& accesses = nest_.plan.accesses.at(block);
    llvm::Value* emitted = ExpressionEmitter(nest_.state, accesses).Emit(value);
    nest_.state.hoisted[{&accesses, value.get()}] = emitted;
  }
}

void NestEmitter::EmitBlock(tensor::BlockId id) {
  const tensor::Block& block = nest_.program.blocks[id];
  const plan::BlockAccesses& accesses = nest_.plan.accesses.at(id);
  EmitState& state = nest_.state;
  ExpressionEmitter values(state, accesses);
  llvm::Value* value = nullptr;
  if (block.kind == tensor::BlockKind::kReduce || block.kind == tensor::BlockKind::kUpdate) {
    const auto tile = std::ranges::find_if(
        tiles_, [&](const TileEmitter* active) { return active->tile().block == id; });
    if (tile != tiles_.end()) return (*tile)->AddTerm();
    value = WithTerm(nest_, id, values, OldValue(state, block, accesses.store));
  } else {
    value = block.kind == tensor::BlockKind::kInit ? NeutralValue(state, block)
                                                   : values.Emit(block.value);
  }
  nest_.memory.Store(block.output, nest_.digits.Evaluate(accesses.store.affine), state.chunk,
                     value);
}

void NestEmitter::EmitTile(const plan::AccumulatorTile& tile) {
  TileEmitter emitter(nest_, tile, *this);
  tiles_.push_back(&emitter);
  nest_.tiles.push_back(&emitter);
  emitter.Emit();
  nest_.tiles.pop_back();
  tiles_.pop_back();
}

void NestEmitter::Finish() {
  nest_.builder.CreateRetVoid();
  nest_.Promote();
}

}  // namespace bayloom::codegen
