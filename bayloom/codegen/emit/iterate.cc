// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "bayloom/codegen/internal/emit/nest.h"

namespace bayloom::codegen {

void NestEmitter::Iterate(tensor::LoopId loop, bool unroll, const Body& body) {
  if (const DotPlan* dot = plan_.DotIn(loop)) return Repeat(dot->digit, 1, body);
  if (const Slots* blocked = BlockedAt(loop)) return IterateBlocks(*blocked, unroll, body);
  if (const VectorLoop* fold = FoldAt(loop)) return IterateLanes(*fold, unroll, body);
  const auto vector = plan_.vector_loops.find(loop);
  if (vector == plan_.vector_loops.end()) {
    IterateDigits(program_.loops[loop].digits, 0, unroll, body);
  } else {
    IterateDigits(vector->second.outer, 0, unroll,
                  [&] { IterateLanes(vector->second, unroll, body); });
  }
}

void NestEmitter::IterateDigits(const std::vector<tensor::DigitId>& digits, size_t from,
                                bool unroll, const Body& body) {
  if (from == digits.size()) {
    body();
    return;
  }
  const tensor::DigitId digit = digits[from];
  const int64_t steps = StepsOf(digit);
  const auto rest = [&] { IterateDigits(digits, from + 1, unroll, body); };
  if (unroll || steps == 1) {
    Repeat(digit, steps, rest);
  } else {
    RunLoop(digit, steps, 1, rest);
  }
}

int64_t NestEmitter::StepsOf(tensor::DigitId digit) const {
  for (const Slots& slots : active_) {
    const int64_t steps = slots.tile->StepsOf(program_, digit);
    if (steps != program_.digit_extents[digit]) return steps;
  }
  return program_.digit_extents[digit];
}

void NestEmitter::Repeat(tensor::DigitId digit, int64_t steps, const Body& body) {
  const DigitValue before = digits_[digit];
  DigitValue value = before.bound ? before : DigitValue::Constant(0);
  for (int64_t step = 0; step < steps; ++step) {
    digits_[digit] = value;
    body();
    ++value.offset;
  }
  digits_[digit] = before;
}

void NestEmitter::RunLoop(tensor::DigitId digit, int64_t extent, int64_t scale, const Body& body) {
  const DigitValue before = digits_[digit];
  EmitLoop(builder_.getInt64(0), builder_.getInt64(static_cast<uint64_t>(extent)),
           [&](llvm::PHINode* running) {
             addresses_.Define({running}, running, depth_);
             digits_[digit] = DigitValue::Running(running, extent, scale);
             body();
           });
  digits_[digit] = before;
}

/// begin < end. The test is at the end, so the body is one block if it is straight.
void NestEmitter::EmitLoop(llvm::Value* begin, llvm::Value* end,
                           const std::function<void(llvm::PHINode*)>& body) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(builder_.getContext(), "loop", function_);
  auto* after = llvm::BasicBlock::Create(builder_.getContext(), "end", function_);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* running = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  running->addIncoming(begin, before);
  memory_.ForgetLoads();
  ++depth_;
  body(running);
  --depth_;
  memory_.ForgetLoads();
  llvm::Value* next = builder_.CreateAdd(running, builder_.getInt64(1), "", true, true);
  running->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpEQ(next, end), after, head);
  builder_.SetInsertPoint(after);
}

void NestEmitter::IterateLanes(const VectorLoop& vector, bool unroll, const Body& body) {
  IterateChunks(vector, unroll ? std::numeric_limits<int64_t>::max() : kMaxChunks,
                [&](const Chunk& chunk) { RunChunk(vector, chunk, body); });
}

void NestEmitter::IterateChunks(const VectorLoop& vector, int64_t max_unrolled,
                                const std::function<void(const Chunk&)>& body) {
  const tensor::DigitId innermost = vector.lanes.back();
  const int64_t cut = program_.digit_extents[innermost] / StepsOf(innermost);
  std::vector<Chunk> chunks = ChunksOf(vector.lane_count / cut, vector.width, vector.masks);
  if (vector.lanes.size() == 1 && static_cast<int64_t>(chunks.size()) > max_unrolled) {
    const int64_t whole = vector.lane_count / vector.width;
    RunLoop(innermost, whole, vector.width, [&] { body({0, vector.width, vector.width}); });
    chunks.erase(chunks.begin(), chunks.begin() + whole);
  }
  for (const Chunk& chunk : chunks) body(chunk);
}

/// Gives the lane digits their values: of a position p, digit d is p / stride modulo its extent.
void NestEmitter::RunChunk(const VectorLoop& vector, const Chunk& chunk, const Body& body) {
  std::vector<DigitValue> before;
  std::vector<std::vector<int64_t>> lanes;
  lanes.reserve(vector.lanes.size());
  int64_t stride = vector.lane_count;
  for (tensor::DigitId digit : vector.lanes) {
    before.push_back(digits_[digit]);
    const int64_t extent = program_.digit_extents[digit];
    stride /= extent;
    const int64_t first = chunk.begin / stride % extent;
    std::vector<int64_t>& values = lanes.emplace_back();
    for (int l = 0; l < chunk.width; ++l) {
      const int64_t position = chunk.begin + std::min(l, chunk.active - 1);
      values.push_back(position / stride % extent - first);
    }
    DigitValue& value = digits_[digit];
    if (!value.bound) value = DigitValue::Constant(0);
    value.offset += first;
    value.lanes = chunk.width == 1 ? nullptr : &values;
  }
  const Chunk outer = state_.chunk;
  state_.chunk = {0, chunk.width, chunk.active};
  body();
  state_.chunk = outer;
  for (size_t i = 0; i < vector.lanes.size(); ++i) digits_[vector.lanes[i]] = before[i];
}

}  // namespace bayloom::codegen
