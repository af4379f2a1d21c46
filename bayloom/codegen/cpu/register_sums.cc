// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/register_sums.h"

#include <algorithm>

#include "bayloom/codegen/cpu/dot_emitter.h"
#include "bayloom/codegen/ir/arithmetic.h"
#include "bayloom/codegen/ir/reduction.h"

namespace bayloom::codegen {

int64_t RegisterSums::OffsetHere() const {
  return nest_.digits.Evaluate(nest_.plan.accesses.at(tile_.block).store.affine).constant;
}

llvm::Value* RegisterSums::Combine(llvm::Value* a, llvm::Value* b) {
  return EmitBinary(nest_.builder, CombiningOp(block_.reduction), dtype_, a, b);
}

void RegisterSums::Begin(int64_t offset, llvm::Value* start) {
  IrBuilder& b = nest_.builder;
  llvm::Type* type = RegisterType(b.getContext(), dtype_, lanes());
  llvm::AllocaInst* slot = first_[offset] = nest_.NewSlot(type);
  if (blocks_) {
    llvm::AllocaInst* total = totals_[offset] = nest_.NewSlot(type);
    b.CreateStore(llvm::Constant::getNullValue(type), total);
  }
  if (start == nullptr) start = Splat(b, NeutralValue(nest_.state, block_), lanes());
  b.CreateStore(start, slot);
}

void RegisterSums::Add(ExpressionEmitter& values) {
  IrBuilder& b = nest_.builder;
  llvm::AllocaInst* slot = RegistersOf(OffsetHere())[turn()];
  llvm::Value* old = b.CreateLoad(slot->getAllocatedType(), slot);
  llvm::Value* sum = WithTerm(nest_, tile_.block, values, old, shift_);
  b.CreateStore(Splat(b, sum, nest_.state.chunk.width), slot);
}

llvm::Value* RegisterSums::HeldTogether(int64_t offset) {
  llvm::Value* value = nullptr;
  for (llvm::AllocaInst* slot : RegistersOf(offset)) {
    llvm::Value* held = nest_.builder.CreateLoad(slot->getAllocatedType(), slot);
    value = value ? Combine(value, held) : held;
  }
  return value;
}

llvm::Value* RegisterSums::RegisterValue(int64_t offset) {
  llvm::Value* value = HeldTogether(offset);
  if (!blocks_) return value;
  llvm::AllocaInst* total = totals_.at(offset);
  IrBuilder& b = nest_.builder;
  return b.CreateFAdd(b.CreateLoad(total->getAllocatedType(), total), value);
}

bool RegisterSums::Iterate(tensor::LoopId loop, bool unroll, const Body& body) {
  if (!blocks_ || blocks_->loop != loop) return false;
  IterateBlocks(unroll, body);
  return true;
}

void RegisterSums::IterateBlocks(bool unroll, const Body& body) {
  const std::vector<tensor::DigitId>& digits = nest_.program.loops[blocks_->loop].digits;
  const auto cut = std::ranges::find(digits, blocks_->digit);
  const std::vector<tensor::DigitId> slower(digits.begin(), cut), faster(cut + 1, digits.end());
  nest_.IterateDigits(slower, 0, unroll,
                      [&] { RunBlocks([&] { nest_.IterateDigits(faster, 0, unroll, body); }); });
}

void RegisterSums::RunBlocks(const Body& body) {
  const auto& [loop, digit, steps] = *blocks_;
  IrBuilder& b = nest_.builder;
  const int64_t extent = nest_.program.digit_extents[digit];
  const auto i64 = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  if (steps == 1) {
    return nest_.RunLoop(digit, extent, 1, [&] {
      body();
      AddToTotals();
    });
  }
  llvm::Value* const trips = nest_.TripsOf(digit, extent, 1);
  llvm::Value* const blocks = b.CreateUDiv(b.CreateAdd(trips, i64(steps - 1)), i64(steps));
  nest_.loops.EmitLoop(i64(0), blocks, [&](llvm::PHINode* number) {
    llvm::Value* begin = b.CreateMul(number, i64(steps), "", true, true);
    llvm::Value* end = b.CreateAdd(begin, i64(steps), "", true, true);
    if (extent % steps != 0 || !llvm::isa<llvm::Constant>(trips)) {
      end = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, end, trips);
    }
    const DigitValue before = nest_.digits[digit];
    nest_.loops.EmitLoop(begin, end, [&](llvm::PHINode* running) {
      nest_.addresses.Define({running}, running, nest_.loops.depth());
      nest_.digits[digit] = DigitValue::Running(running, extent);
      body();
    });
    nest_.digits[digit] = before;
    AddToTotals();
  });
}

void RegisterSums::AddToTotals() {
  IrBuilder& b = nest_.builder;
  for (const auto& [offset, total] : totals_) {
    llvm::Type* type = total->getAllocatedType();
    b.CreateStore(b.CreateFAdd(b.CreateLoad(type, total), HeldTogether(offset)), total);
    for (llvm::AllocaInst* used : RegistersOf(offset)) {
      b.CreateStore(llvm::Constant::getNullValue(type), used);
    }
  }
}

}  // namespace bayloom::codegen
