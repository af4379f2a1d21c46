// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <utility>

#include "bayloom/codegen/gpu/kernel_emitter.h"

namespace bayloom::codegen {
namespace {

constexpr uint64_t kMaxCopyBytes = 16;

/// Where the lanes' elements are, relative to the first one's; the index keeps that one's.
std::vector<int64_t> LanesFrom(IndexValue& index, int count) {
  std::vector<int64_t> lanes = std::exchange(index.lanes, {});
  lanes.resize(static_cast<size_t>(count));
  return lanes;
}

}  // namespace

/// Groups of copies, one for each iteration, empty ones at the end: iteration i waits for all but
/// the last `stages` - 2 that were begun, so for its own. It begins those of iteration i + `stages`
/// - 1, in the slot that all threads have left when they meet at its barrier.
void KernelEmitter::EmitPipeline(tensor::LoopId loop, const plan::Pipeline& pipeline,
                                 const Team& team) {
  const int64_t extent = program_.ExtentOf(loop), ahead = pipeline.stages - 1;
  const auto number = [&](int64_t value) {
    return builder_.getInt64(static_cast<uint64_t>(value));
  };
  llvm::Value* within = IterationsWithin(program_.loops[loop].digits);
  llvm::Value* end = within ? within : number(extent);
  for (int64_t first = 0; first < ahead; ++first) {
    EmitIf(within && first > 0 ? builder_.CreateICmpULT(number(first), end) : nullptr, [&] {
      EnterFirstIteration(pipeline, loop, first);
      EmitCopies(pipeline);
    });
    machine_.CommitCopies(builder_);
  }
  loops_.EmitLoop(number(0), end, [&](llvm::PHINode* running) {
    llvm::PHINode* slot = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    slot->addIncoming(number(0), running->getIncomingBlock(0));
    const auto copy = [&] {
      llvm::Value* next = builder_.CreateAdd(running, number(ahead));
      EmitIf(builder_.CreateICmpULT(next, end), [&] {
        EnterIteration(pipeline, loop, next, Turn(slot, 0, ahead, -1));
        EmitCopies(pipeline);
      });
      machine_.CommitCopies(builder_);
    };
    machine_.WaitForCopies(builder_, pipeline.stages - 2);
    Barrier();
    // What is computed need not wait until the copies are begun; but of two stages the next one
    // would not be copied while this one is used.
    const bool copies_first = pipeline.stages == 2;
    if (copies_first) copy();
    EnterIteration(pipeline, loop, running, slot);
    for (tensor::NodeRef child : program_.loops[loop].body) {
      const bool copies = child.is_loop() && std::ranges::count(pipeline.copies, child.id) > 0;
      if (!copies) EmitNode(child, team);
    }
    if (!copies_first) copy();
    FinishGroupProducts();
    slot->addIncoming(Turn(slot, ahead, 0, 1), builder_.GetInsertBlock());
  });
  Forget(program_.loops[loop].digits);
  digits_[pipeline.slot] = DigitValue{};
}

/// The slot after this one, or before: at `last` comes `first`.
llvm::Value* KernelEmitter::Turn(llvm::Value* slot, int64_t last, int64_t first, int64_t step) {
  llvm::Value* is_last =
      builder_.CreateICmpEQ(slot, builder_.getInt64(static_cast<uint64_t>(last)));
  llvm::Value* next = builder_.CreateAdd(slot, builder_.getInt64(static_cast<uint64_t>(step)));
  return builder_.CreateSelect(is_last, builder_.getInt64(static_cast<uint64_t>(first)), next);
}

void KernelEmitter::EmitCopies(const plan::Pipeline& pipeline) {
  for (tensor::LoopId copy : pipeline.copies) EmitCooperative(copy);
}

void KernelEmitter::EnterFirstIteration(const plan::Pipeline& pipeline, tensor::LoopId loop,
                                        int64_t position) {
  const std::vector<tensor::DigitId>& digits = program_.loops[loop].digits;
  int64_t rest = position;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const int64_t extent = program_.digit_extents[*digit];
    digits_[*digit] = DigitValue::Constant(rest % extent);
    rest /= extent;
  }
  digits_[pipeline.slot] = DigitValue::Constant(position % pipeline.stages);
}

void KernelEmitter::EnterIteration(const plan::Pipeline& pipeline, tensor::LoopId loop,
                                   llvm::Value* position, llvm::Value* slot) {
  std::vector<llvm::Value*> values = loops_.DefineDigits(program_.loops[loop].digits, position);
  digits_[pipeline.slot] = DigitValue::Running(slot, pipeline.stages);
  values.push_back(slot);
  addresses_.Define(values, &builder_.GetInsertBlock()->back(), loops_.depth());
}

void KernelEmitter::EmitAsyncCopy(tensor::BlockId id, const tensor::AsyncCopy& copy) {
  const tensor::Block& block = program_.blocks[id];
  const plan::BlockAccesses& accesses = plan_.accesses.at(id);
  const plan::PlacedAccess& source = accesses.loads.at(copy.load);
  const int64_t element = tensor::ByteSize(program_.buffers[block.output].dtype);
  IndexValue to = digits_.Evaluate(accesses.store.affine);
  IndexValue from = digits_.Evaluate(source.affine);
  ExpressionEmitter values(state_, accesses);
  llvm::Value* exists = copy.condition.defined() ? values.Emit(copy.condition) : nullptr;
  // The same in all lanes.
  if (exists && LanesOf(exists) > 1) exists = builder_.CreateExtractElement(exists, uint64_t{0});
  exists = Both(exists, WithinBounds(block));
  const int lanes = state_.chunk.active;
  const std::vector<int64_t> to_lanes = LanesFrom(to, lanes), from_lanes = LanesFrom(from, lanes);
  for (int lane = 0; lane < lanes;) {
    IndexValue to_first = to, from_first = from;
    to_first.constant += to_lanes[lane];
    from_first.constant += from_lanes[lane];
    int run = 1;
    while (lane + run < lanes && to_lanes[lane + run] == to_lanes[lane] + run &&
           from_lanes[lane + run] == from_lanes[lane] + run) {
      ++run;
    }
    // The largest power of two that both sides are aligned to and that the run has.
    const uint64_t aligned = std::min(MemoryEmitter::AlignmentOf(to_first, element).value(),
                                      MemoryEmitter::AlignmentOf(from_first, element).value());
    const auto bytes = static_cast<int64_t>(std::min<uint64_t>(
        {aligned, std::bit_floor(static_cast<uint64_t>(run * element)), kMaxCopyBytes}));
    machine_.CopyAsync(builder_, {block.output, memory_.AddressOf(block.output, to_first)},
                       {source.buffer, memory_.AddressOf(source.buffer, from_first)},
                       static_cast<int>(bytes), exists);
    lane += static_cast<int>(bytes / element);
  }
}

}  // namespace bayloom::codegen
