// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/paired_sums.h"

#include "bayloom/codegen/cpu/dot_emitter.h"

namespace bayloom::codegen {
namespace {

constexpr int kMatrixLanes = 4;

/// Two of a factor's lanes, from this one on, as one register.
PackedFactor TwoLanes(IrBuilder& b, const PackedFactor& factor, int first) {
  return {b.CreateShuffleVector(factor.value, {first, first + 1}), factor.dtype};
}

}  // namespace

bool PairedSums::IsPaired() const {
  return nest_.state.chunk.width == kMatrixLanes && nest_.digits[pairs_.digit].offset < pairs_.rows;
}

/// Adds to the registers of two rows when the code is at the second one.
void PairedSums::Add(ExpressionEmitter& values) {
  if (!IsPaired()) return RegisterSums::Add(values);
  if (nest_.digits[pairs_.digit].offset % 2 == 0) return;
  IrBuilder& b = nest_.builder;
  const plan::DotPlan& dot = nest_.plan.dots.at(tile_.block);
  const plan::BlockAccesses& accesses = nest_.plan.accesses.at(tile_.block);
  const tensor::DotFactor& of_rows = pairs_.first_is_rows ? dot.a : dot.b;
  const tensor::DotFactor& of_columns = pairs_.first_is_rows ? dot.b : dot.a;
  PackedFactor columns = EmitFactor(nest_, dot, of_columns, accesses, values);
  columns.value = Splat(b, columns.value, kMatrixLanes);
  const PackedFactor second = EmitFactor(nest_, dot, of_rows, accesses, values);
  --nest_.digits[pairs_.digit].offset;
  ExpressionEmitter values_of_first(nest_.state, accesses);
  const PackedFactor first = EmitFactor(nest_, dot, of_rows, accesses, values_of_first);
  ++nest_.digits[pairs_.digit].offset;
  llvm::Value* rows = Splat(b, first.value, 2);
  rows = b.CreateInsertElement(rows, second.value, uint64_t{1});
  const int64_t second_at = OffsetHere();
  const int64_t offsets[] = {second_at - pairs_.stride, second_at};
  for (const int half : {0, 1}) {
    llvm::AllocaInst* slot = first_.at(offsets[half]);
    llvm::Value* sums = b.CreateLoad(slot->getAllocatedType(), slot);
    sums = EmitMatrix(b, *dot.matrix, {rows, first.dtype}, TwoLanes(b, columns, 2 * half), sums);
    b.CreateStore(sums, slot);
  }
}

/// The row's sums out of the matrices of both rows.
llvm::Value* PairedSums::Result(int64_t offset) {
  if (!IsPaired()) return RegisterSums::Result(offset);
  const plan::DotPlan& dot = nest_.plan.dots.at(tile_.block);
  const tensor::DType rows = (pairs_.first_is_rows ? dot.a : dot.b).dtype();
  const tensor::DType columns = (pairs_.first_is_rows ? dot.b : dot.a).dtype();
  const auto row = static_cast<int>(nest_.digits[pairs_.digit].offset % 2);
  const int64_t first_at = offset - row * pairs_.stride;
  llvm::Value* left = RegisterValue(first_at);
  llvm::Value* right = RegisterValue(first_at + pairs_.stride);
  if (IsTransposed(rows, columns)) {
    return nest_.builder.CreateShuffleVector(left, right, {row, row + 2, row + 4, row + 6});
  }
  return nest_.builder.CreateShuffleVector(left, right,
                                           {2 * row, 2 * row + 1, 2 * row + 4, 2 * row + 5});
}

}  // namespace bayloom::codegen
