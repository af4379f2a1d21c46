// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/loop_emitter.h"

#include <algorithm>

namespace bayloom::codegen {

void LoopEmitter::Repeat(tensor::DigitId digit, int64_t steps, const Body& body) {
  const DigitValue before = state_.digits[digit];
  DigitValue value = before.bound ? before : DigitValue::Constant(0);
  for (int64_t step = 0; step < steps; ++step) {
    state_.digits[digit] = value;
    body();
    ++value.offset;
  }
  state_.digits[digit] = before;
}

void LoopEmitter::RunLoop(tensor::DigitId digit, int64_t extent, int64_t scale, const Body& body) {
  RunLoop(digit, state_.builder.getInt64(static_cast<uint64_t>(extent)), extent, scale, body);
}

void LoopEmitter::RunLoop(tensor::DigitId digit, llvm::Value* trips, int64_t extent, int64_t scale,
                          const Body& body) {
  const DigitValue before = state_.digits[digit];
  EmitLoop(state_.builder.getInt64(0), trips, [&](llvm::PHINode* running) {
    state_.addresses.Define({running}, running, depth_);
    state_.digits[digit] = DigitValue::Running(running, extent, scale);
    body();
  });
  state_.digits[digit] = before;
}

/// begin < end. The test is at the end, so the body is one block if it is straight.
void LoopEmitter::EmitLoop(llvm::Value* begin, llvm::Value* end,
                           const std::function<void(llvm::PHINode*)>& body) {
  llvm::BasicBlock* before = state_.builder.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(state_.builder.getContext(), "loop", function_);
  auto* after = llvm::BasicBlock::Create(state_.builder.getContext(), "end", function_);
  state_.builder.CreateBr(head);
  state_.builder.SetInsertPoint(head);
  llvm::PHINode* running = state_.builder.CreatePHI(state_.builder.getInt64Ty(), 2);
  running->addIncoming(begin, before);
  state_.memory.ForgetLoads();
  ++depth_;
  body(running);
  --depth_;
  state_.memory.ForgetLoads();
  llvm::Value* next = state_.builder.CreateAdd(running, state_.builder.getInt64(1), "", true, true);
  running->addIncoming(next, state_.builder.GetInsertBlock());
  state_.builder.CreateCondBr(state_.builder.CreateICmpEQ(next, end), after, head);
  state_.builder.SetInsertPoint(after);
}

/// Gives the lane digits their values: of a position p, digit d is p / stride modulo its extent.
void LoopEmitter::RunChunk(const plan::VectorLoop& vector, const plan::Chunk& chunk,
                           const Body& body) {
  std::vector<DigitValue> before;
  std::vector<std::vector<int64_t>> lanes;
  lanes.reserve(vector.lanes.size());
  int64_t stride = vector.lane_count;
  for (tensor::DigitId digit : vector.lanes) {
    before.push_back(state_.digits[digit]);
    const int64_t extent = state_.program.digit_extents[digit];
    stride /= extent;
    const int64_t first = chunk.begin / stride % extent;
    std::vector<int64_t>& values = lanes.emplace_back();
    for (int l = 0; l < chunk.width; ++l) {
      const int64_t position = chunk.begin + std::min(l, chunk.active - 1);
      values.push_back(position / stride % extent - first);
    }
    DigitValue& value = state_.digits[digit];
    if (!value.bound) value = DigitValue::Constant(0);
    value.offset += first;
    value.lanes = chunk.width == 1 ? nullptr : &values;
  }
  const plan::Chunk outer = state_.chunk;
  state_.chunk = {0, chunk.width, chunk.active};
  body();
  state_.chunk = outer;
  for (size_t i = 0; i < vector.lanes.size(); ++i) state_.digits[vector.lanes[i]] = before[i];
}

void LoopEmitter::EmitIf(llvm::Value* condition, const Body& body) {
  IrBuilder& b = state_.builder;
  auto* then = llvm::BasicBlock::Create(b.getContext(), "then", function_);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "endif", function_);
  b.CreateCondBr(condition, then, after);
  b.SetInsertPoint(then);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  state_.memory.ForgetLoads();
}

std::vector<llvm::Value*> LoopEmitter::DefineDigits(
    const std::vector<tensor::DigitId>& digits, llvm::Value* position,
    const std::map<tensor::DigitId, llvm::Value*>& trips) {
  IrBuilder& b = state_.builder;
  std::vector<tensor::DigitId> moving = digits;
  std::erase_if(moving,
                [&](tensor::DigitId digit) { return state_.program.digit_extents[digit] == 1; });
  std::vector<llvm::Value*> values;
  for (size_t i = moving.size(); i-- > 0;) {
    const int64_t count = state_.program.digit_extents[moving[i]];
    const auto fewer = trips.find(moving[i]);
    llvm::Value* extent =
        fewer != trips.end()
            ? fewer->second
            : llvm::ConstantInt::get(position->getType(), static_cast<uint64_t>(count));
    llvm::Value* value = i > 0 ? b.CreateURem(position, extent) : position;
    if (i > 0) position = b.CreateUDiv(position, extent);
    value = b.CreateZExt(value, b.getInt64Ty());
    state_.digits[moving[i]] = DigitValue::Running(value, count);
    values.push_back(value);
  }
  return values;
}

}  // namespace bayloom::codegen
