// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/row_pairs.h"

#include "bayloom/codegen/cpu/nest.h"

namespace bayloom::codegen {
namespace {

constexpr int kMatrixLanes = 4;

/// Two of a factor's lanes, from this one on, as one register.
PackedFactor TwoLanes(IrBuilder& b, const PackedFactor& factor, int first) {
  return {b.CreateShuffleVector(factor.value, {first, first + 1}), factor.dtype};
}

}  // namespace

const plan::RowPairs* NestEmitter::PairsOf(const plan::AccumulatorTile& tile) const {
  const auto pairs = plan_.pairs.find(tile.block);
  return pairs == plan_.pairs.end() ? nullptr : &pairs->second;
}

bool NestEmitter::IsPaired(const plan::AccumulatorTile& tile) const {
  const plan::RowPairs* pairs = PairsOf(tile);
  return pairs != nullptr && state_.chunk.width == kMatrixLanes &&
         digits_[pairs->digit].offset < pairs->rows;
}

/// Adds to the registers of two rows when the code is at the second one.
void NestEmitter::EmitRowPair(const Slots& slots, ExpressionEmitter& values) {
  const plan::RowPairs& pairs = *PairsOf(*slots.tile);
  if (digits_[pairs.digit].offset % 2 == 0) return;
  const tensor::BlockId block = slots.tile->block;
  const plan::DotPlan& dot = plan_.dots.at(block);
  const plan::BlockAccesses& accesses = plan_.accesses.at(block);
  const tensor::DotFactor& of_rows = pairs.first_is_rows ? dot.a : dot.b;
  const tensor::DotFactor& of_columns = pairs.first_is_rows ? dot.b : dot.a;
  PackedFactor columns = EmitFactor(dot, of_columns, accesses, values);
  columns.value = Splat(builder_, columns.value, kMatrixLanes);
  const PackedFactor second = EmitFactor(dot, of_rows, accesses, values);
  --digits_[pairs.digit].offset;
  ExpressionEmitter values_of_first(state_, accesses);
  const PackedFactor first = EmitFactor(dot, of_rows, accesses, values_of_first);
  ++digits_[pairs.digit].offset;
  llvm::Value* rows = Splat(builder_, first.value, 2);
  rows = builder_.CreateInsertElement(rows, second.value, uint64_t{1});
  const int64_t second_at = digits_.Evaluate(accesses.store.affine).constant;
  const int64_t offsets[] = {second_at - pairs.stride, second_at};
  for (const int half : {0, 1}) {
    llvm::AllocaInst* slot = slots.by_offset.at(offsets[half]);
    llvm::Value* sums = builder_.CreateLoad(slot->getAllocatedType(), slot);
    sums = EmitMatrix(builder_, *dot.matrix, {rows, first.dtype},
                      TwoLanes(builder_, columns, 2 * half), sums);
    builder_.CreateStore(sums, slot);
  }
}

/// The row's sums out of the matrices of both rows.
llvm::Value* NestEmitter::RowOfPair(const Slots& slots, int64_t offset) {
  const plan::RowPairs& pairs = *PairsOf(*slots.tile);
  const plan::DotPlan& dot = plan_.dots.at(slots.tile->block);
  const tensor::DType rows = (pairs.first_is_rows ? dot.a : dot.b).dtype();
  const tensor::DType columns = (pairs.first_is_rows ? dot.b : dot.a).dtype();
  const auto row = static_cast<int>(digits_[pairs.digit].offset % 2);
  const int64_t first_at = offset - row * pairs.stride;
  llvm::Value* left = RegisterValue(slots, first_at);
  llvm::Value* right = RegisterValue(slots, first_at + pairs.stride);
  if (IsTransposed(rows, columns)) {
    return builder_.CreateShuffleVector(left, right, {row, row + 2, row + 4, row + 6});
  }
  return builder_.CreateShuffleVector(left, right,
                                      {2 * row, 2 * row + 1, 2 * row + 4, 2 * row + 5});
}

}  // namespace bayloom::codegen
