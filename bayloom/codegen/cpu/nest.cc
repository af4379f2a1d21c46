// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/nest.h"

#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {

NestEmitter::NestEmitter(ModuleState& module, llvm::Function* function, llvm::Instruction* anchor,
                         MemoryEmitter::Arguments arguments)
    : module_(module),
      program_(module.program),
      plan_(module.plan),
      function_(function),
      builder_(&function->getEntryBlock()),
      digits_(program_),
      addresses_(builder_),
      arguments_(arguments),
      memory_(program_, plan_.memory, module.scopes, builder_, addresses_, arguments),
      state_{program_, builder_, digits_, addresses_, memory_, {}, {}, {}, {}},
      loops_(function, state_) {
  addresses_.SetEntry(anchor);
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  builder_.setFastMathFlags(flags);
}

void NestEmitter::EmitBody(tensor::NodeRef node) {
  for (tensor::NodeRef child : program_.BodyOf(node)) EmitNode(child);
}

void NestEmitter::EmitNode(tensor::NodeRef node) {
  if (node.is_block()) {
    if (!plan_.absorbed.contains(node.id)) EmitBlock(node.id);
    return;
  }
  if (plan_.absorbed_loops.contains(node.id)) return;
  const bool in_parallel = arguments_.worker_workspace != nullptr;
  const auto nest =
      std::ranges::find_if(active_, [&](const Slots& slots) { return slots.tile->nest == node; });
  if (nest != active_.end()) {
    EmitNest(*nest, 0);
  } else if (const auto tile = plan_.tiles.find(node.id); tile != plan_.tiles.end()) {
    EmitTile(tile->second);
  } else if (program_.loops[node.id].kind == tensor::LoopKind::kParallel && !in_parallel) {
    EmitParallel(node.id);
  } else {
    EmitPlainLoop(node.id);
  }
}

void NestEmitter::EmitPlainLoop(tensor::LoopId loop) {
  const auto before = state_.hoisted;
  EmitHoisted(loop);
  if (const auto across = plan_.across.find(loop); across != plan_.across.end()) {
    EmitAcross(across->second);
  } else {
    const auto vector = plan_.vector_loops.find(loop);
    const tensor::LoopId innermost =
        vector == plan_.vector_loops.end() ? loop : vector->second.loops.back();
    Iterate(loop, plan_.unrolled.contains(loop),
            [&] { EmitBody(tensor::NodeRef::Loop(innermost)); });
  }
  state_.hoisted = before;
}

/// What does not change in the loop is computed in front of it.
void NestEmitter::EmitHoisted(tensor::LoopId loop) {
  const auto hoisted = plan_.hoisted.find(loop);
  if (hoisted == plan_.hoisted.end() || state_.chunk.width > 1) return;
  for (const auto& [block, value] : hoisted->second) {
    const plan::BlockAccesses& accesses = plan_.accesses.at(block);
    llvm::Value* emitted = ExpressionEmitter(state_, accesses).Emit(value);
    state_.hoisted[{&accesses, value.get()}] = emitted;
  }
}

void NestEmitter::EmitBlock(tensor::BlockId id) {
  const tensor::Block& block = program_.blocks[id];
  const plan::BlockAccesses& accesses = plan_.accesses.at(id);
  ExpressionEmitter values(state_, accesses);
  if (block.kind == tensor::BlockKind::kReduce || block.kind == tensor::BlockKind::kUpdate) {
    EmitReduction(id, values);
    return;
  }
  llvm::Value* value = block.kind == tensor::BlockKind::kInit ? NeutralValue(state_, block)
                                                              : values.Emit(block.value);
  memory_.Store(block.output, digits_.Evaluate(accesses.store.affine), state_.chunk, value);
}

void NestEmitter::Finish() {
  builder_.CreateRetVoid();
  llvm::DominatorTree dominators(*function_);
  llvm::PromoteMemToReg(slots_, dominators);
}

}  // namespace bayloom::codegen
