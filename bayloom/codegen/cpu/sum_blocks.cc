// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/sum_blocks.h"

#include "bayloom/codegen/cpu/nest.h"

namespace bayloom::codegen {

llvm::AllocaInst* NestEmitter::NewSlot(llvm::Type* type) {
  llvm::Value* slot = addresses_.AtEntry([&] { return builder_.CreateAlloca(type); });
  slots_.push_back(llvm::cast<llvm::AllocaInst>(slot));
  return slots_.back();
}

NestEmitter::Slots* NestEmitter::BlockedAt(tensor::LoopId loop) {
  const auto slots = std::ranges::find_if(active_, [&](const Slots& candidate) {
    return candidate.blocks && candidate.blocks->loop == loop;
  });
  return slots == active_.end() ? nullptr : &*slots;
}

void NestEmitter::IterateBlocks(const Slots& slots, bool unroll, const Body& body) {
  const plan::SumBlocks& blocks = *slots.blocks;
  const std::vector<tensor::DigitId>& digits = program_.loops[blocks.loop].digits;
  const auto cut = std::ranges::find(digits, blocks.digit);
  const std::vector<tensor::DigitId> slower(digits.begin(), cut), faster(cut + 1, digits.end());
  IterateDigits(slower, 0, unroll,
                [&] { RunBlocks(slots, [&] { IterateDigits(faster, 0, unroll, body); }); });
}

void NestEmitter::RunBlocks(const Slots& slots, const Body& body) {
  const auto& [loop, digit, steps] = *slots.blocks;
  const int64_t extent = program_.digit_extents[digit];
  const auto i64 = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  if (steps == 1) {
    return RunLoop(digit, extent, 1, [&] {
      body();
      AddToTotals(slots);
    });
  }
  EmitLoop(i64(0), i64((extent + steps - 1) / steps), [&](llvm::PHINode* number) {
    llvm::Value* begin = builder_.CreateMul(number, i64(steps), "", true, true);
    llvm::Value* end = builder_.CreateAdd(begin, i64(steps), "", true, true);
    if (extent % steps != 0)
      end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, end, i64(extent));
    const DigitValue before = digits_[digit];
    EmitLoop(begin, end, [&](llvm::PHINode* running) {
      addresses_.Define({running}, running, loops_.depth());
      digits_[digit] = DigitValue::Running(running, extent);
      body();
    });
    digits_[digit] = before;
    AddToTotals(slots);
  });
}

void NestEmitter::AddToTotals(const Slots& slots) {
  for (const auto& [offset, slot] : slots.by_offset) {
    llvm::Type* type = slot->getAllocatedType();
    llvm::AllocaInst* total = slots.totals.at(offset);
    llvm::Value* sum =
        builder_.CreateFAdd(builder_.CreateLoad(type, total), TurnsCombined(slots, offset));
    builder_.CreateStore(sum, total);
    for (llvm::AllocaInst* used : RegistersOf(slots, offset)) {
      builder_.CreateStore(llvm::Constant::getNullValue(type), used);
    }
  }
}

}  // namespace bayloom::codegen
