// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/tile_register_sums.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace bayloom::codegen {
namespace {

constexpr unsigned kRegisterLanes = 256;  // of 32 bits: 16 rows of 64 bytes
constexpr int64_t kRowBytes = 64;

llvm::Intrinsic::ID ProductIntrinsic(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, llvm::Intrinsic::ID>, 5> kIds = {{
      {"tdpbssd", llvm::Intrinsic::x86_tdpbssd_internal},
      {"tdpbsud", llvm::Intrinsic::x86_tdpbsud_internal},
      {"tdpbusd", llvm::Intrinsic::x86_tdpbusd_internal},
      {"tdpbuud", llvm::Intrinsic::x86_tdpbuud_internal},
      {"tdpbf16ps", llvm::Intrinsic::x86_tdpbf16ps_internal},
  }};
  for (const auto& [known, id] : kIds) {
    if (known == name) return id;
  }
  throw std::logic_error("an instruction for tiles without an intrinsic");
}

llvm::Type* RegisterVector(IrBuilder& b) {
  return llvm::FixedVectorType::get(b.getInt32Ty(), kRegisterLanes);
}

/// A tile register is a vector while it is a variable, as in C.
llvm::Value* LoadRegister(IrBuilder& b, llvm::AllocaInst* slot) {
  llvm::Value* vector = b.CreateLoad(slot->getAllocatedType(), slot);
  return b.CreateIntrinsic(llvm::Intrinsic::x86_cast_vector_to_tile, {vector->getType()}, {vector});
}

void StoreRegister(IrBuilder& b, llvm::Value* tile, llvm::AllocaInst* slot) {
  llvm::Type* type = slot->getAllocatedType();
  b.CreateStore(b.CreateIntrinsic(llvm::Intrinsic::x86_cast_tile_to_vector, {type}, {tile}), slot);
}

llvm::Value* Count(IrBuilder& b, int64_t count) { return b.getInt16(static_cast<uint16_t>(count)); }

}  // namespace

int64_t TileRegisterSums::RowHere() const {
  return nest_.digits[product_.fill.row_digit].offset % product_.fill.rows;
}

int64_t TileRegisterSums::FirstRowOf(int64_t offset) const {
  const tensor::Affine& output = nest_.plan.accesses.at(tile_.block).store.affine;
  return offset - RowHere() * output.CoefficientOf(product_.fill.row_digit);
}

void TileRegisterSums::Begin(int64_t offset, llvm::Value* /*start*/) {
  if (FirstRowOf(offset) != offset) return;
  IrBuilder& b = nest_.builder;
  llvm::AllocaInst* slot = registers_[offset] = nest_.NewSlot(RegisterVector(b));
  StoreRegister(
      b,
      b.CreateIntrinsic(llvm::Intrinsic::x86_tilezero_internal, {},
                        {Count(b, product_.fill.rows), Count(b, 4 * nest_.state.chunk.active)}),
      slot);
}

/// Adds the products of all rows when the code is at the first one.
void TileRegisterSums::Add(ExpressionEmitter& /*values*/) {
  if (RowHere() != 0) return;
  IrBuilder& b = nest_.builder;
  const plan::BlockAccesses& accesses = nest_.plan.accesses.at(tile_.block);
  const auto load = [&](const tensor::DotFactor& factor, int64_t rows, int64_t bytes,
                        int64_t stride) {
    const plan::PlacedAccess& access = accesses.loads.at(factor.load.get());
    llvm::Value* from = nest_.memory.AddressOf(access.buffer, nest_.digits.Evaluate(access.affine));
    return b.CreateIntrinsic(
        llvm::Intrinsic::x86_tileloadd64_internal, {},
        {Count(b, rows), Count(b, bytes), from, b.getInt64(static_cast<uint64_t>(stride))});
  };
  const auto& fill = product_.fill;
  const int64_t group_bytes = 4 * fill.groups, lane_bytes = 4 * nest_.state.chunk.active;
  llvm::Value* rows = load(product_.rows, fill.rows, group_bytes, product_.row_stride);
  llvm::Value* columns = load(product_.columns, fill.groups, lane_bytes, product_.group_stride);
  llvm::AllocaInst* slot = registers_.at(nest_.digits.Evaluate(accesses.store.affine).constant);
  llvm::Value* sums =
      b.CreateIntrinsic(ProductIntrinsic(product_.instruction->name), {},
                        {Count(b, fill.rows), Count(b, lane_bytes), Count(b, group_bytes),
                         LoadRegister(b, slot), rows, columns});
  StoreRegister(b, sums, slot);
}

/// The position's row, through memory: tile registers have no other way out.
llvm::Value* TileRegisterSums::Result(int64_t offset) {
  IrBuilder& b = nest_.builder;
  const int64_t first = FirstRowOf(offset);
  llvm::Value*& stored = stored_[first];
  if (stored == nullptr) {
    llvm::Type* type = RegisterVector(b);
    stored = nest_.addresses.AtEntry([&]() -> llvm::Value* {
      llvm::AllocaInst* memory = b.CreateAlloca(type);
      memory->setAlignment(llvm::Align(kRowBytes));
      return memory;
    });
    b.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64_internal, {},
                      {Count(b, product_.fill.rows), Count(b, 4 * nest_.state.chunk.active), stored,
                       b.getInt64(kRowBytes), LoadRegister(b, registers_.at(first))});
  }
  const tensor::Block& block = nest_.program.blocks[tile_.block];
  llvm::Type* type = RegisterType(b.getContext(), nest_.program.buffers[block.output].dtype,
                                  nest_.state.chunk.width);
  return b.CreateAlignedLoad(type, nest_.addresses.OffsetPointer(stored, RowHere() * kRowBytes),
                             llvm::Align(4));
}

}  // namespace bayloom::codegen
