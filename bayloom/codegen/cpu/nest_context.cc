// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/nest_context.h"

#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <limits>

#include "bayloom/codegen/ir/open_loop.h"

namespace bayloom::codegen {

NestContext::NestContext(ModuleState& state_of_module, llvm::Function* function,
                         llvm::Instruction* anchor, MemoryEmitter::Arguments available)
    : module(state_of_module),
      program(module.program),
      plan(module.plan),
      builder(&function->getEntryBlock()),
      digits(program),
      addresses(builder),
      arguments(available),
      memory(program, plan.memory, module.scopes, builder, addresses, arguments),
      state{program, builder, digits, addresses, memory, {}, {}, {}, {}},
      loops(function, state) {
  addresses.SetEntry(anchor);
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  builder.setFastMathFlags(flags);
}

llvm::AllocaInst* NestContext::NewSlot(llvm::Type* type) {
  llvm::Value* slot = addresses.AtEntry([&] { return builder.CreateAlloca(type); });
  slots_.push_back(llvm::cast<llvm::AllocaInst>(slot));
  return slots_.back();
}

void NestContext::Promote() {
  llvm::DominatorTree dominators(*loops.function());
  llvm::PromoteMemToReg(slots_, dominators);
}

void NestContext::Iterate(tensor::LoopId loop, bool unroll, const Body& body) {
  if (const auto digit = plan.DigitAtOnce(loop)) return loops.Repeat(*digit, 1, body);
  for (TileLoops* tile : tiles) {
    if (tile->Iterate(loop, unroll, body)) return;
  }
  const auto vector = plan.vector_loops.find(loop);
  if (vector == plan.vector_loops.end()) {
    return IterateDigits(program.loops[loop].digits, 0, unroll, body);
  }
  IterateDigits(vector->second.outer, 0, unroll, [&] {
    IterateChunks(vector->second, unroll ? std::numeric_limits<int64_t>::max() : plan::kMaxChunks,
                  [&](const plan::Chunk& chunk) { loops.RunChunk(vector->second, chunk, body); });
  });
}

void NestContext::IterateDigits(const std::vector<tensor::DigitId>& of_loop, size_t from,
                                bool unroll, const Body& body) {
  if (from == of_loop.size()) {
    body();
    return;
  }
  const tensor::DigitId digit = of_loop[from];
  const int64_t steps = StepsOf(digit);
  const auto rest = [&] { IterateDigits(of_loop, from + 1, unroll, body); };
  if (unroll || steps == 1) {
    loops.Repeat(digit, steps, rest);
  } else {
    RunLoop(digit, steps, 1, rest);
  }
}

llvm::Value* NestContext::TripsOf(tensor::DigitId digit, int64_t steps, int64_t scale) {
  const auto open = plan.open.find(digit);
  if (open == plan.open.end() || steps == 1) return builder.getInt64(static_cast<uint64_t>(steps));
  return TripsWithin(state, open->second, digit, steps, scale,
                     [&](tensor::DigitId other) { return digits[other].bound; });
}

void NestContext::RunLoop(tensor::DigitId digit, int64_t steps, int64_t scale, const Body& body) {
  const std::set<tensor::DigitId> within = within_;
  const std::vector<tensor::Affine> not_negative = state.not_negative;
  loops.RunLoop(digit, TripsOf(digit, steps, scale), steps, scale, [&] {
    if (scale == 1) NoteWithin(digit);
    body();
  });
  within_ = within;
  state.not_negative = not_negative;
}

/// Once all digits of an index are, the index is below the size. One value of a size may be 0,
/// though, and a loop takes one step at least.
void NestContext::NoteWithin(tensor::DigitId digit) {
  const auto open = plan.open.find(digit);
  if (open == plan.open.end() || open->second.size() > 1) return;
  const plan::OpenAxis& axis = open->second.front();
  if (program.buffers[axis.size].range.smallest < 1) return;
  within_.insert(digit);
  const bool all = std::ranges::all_of(axis.index.terms, [&](const tensor::Affine::Term& term) {
    if (program.digit_extents[term.digit] == 1) return true;
    const auto other = plan.open.find(term.digit);
    return within_.contains(term.digit) && other->second == open->second;
  });
  if (all) state.not_negative.push_back(axis.Slack());
}

int64_t NestContext::StepsOf(tensor::DigitId digit) const {
  for (const TileLoops* tile : tiles) {
    const int64_t steps = tile->StepsOf(digit);
    if (steps != program.digit_extents[digit]) return steps;
  }
  return program.digit_extents[digit];
}

void NestContext::IterateChunks(const plan::VectorLoop& vector, int64_t max_unrolled,
                                const std::function<void(const plan::Chunk&)>& body) {
  const tensor::DigitId innermost = vector.lanes.back();
  const int64_t cut = program.digit_extents[innermost] / StepsOf(innermost);
  std::vector<plan::Chunk> chunks =
      plan::ChunksOf(vector.lane_count / cut, vector.width, vector.masks);
  const bool may_end_early = plan.open.contains(innermost) && chunks.size() > 1 &&
                             max_unrolled != std::numeric_limits<int64_t>::max();
  const int64_t whole = vector.lane_count / vector.width;
  if (whole > 0 && vector.lanes.size() == 1 &&
      (may_end_early || static_cast<int64_t>(chunks.size()) > max_unrolled)) {
    RunLoop(innermost, whole, vector.width, [&] { body({0, vector.width, vector.width}); });
    chunks.erase(chunks.begin(), chunks.begin() + whole);
  }
  for (const plan::Chunk& chunk : chunks) body(chunk);
}

}  // namespace bayloom::codegen
