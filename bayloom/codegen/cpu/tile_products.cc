// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bayloom/codegen/cpu/nest.h"

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

const plan::TileProduct* NestEmitter::TileProductOf(const plan::AccumulatorTile& tile) const {
  const auto product = plan_.tile_products.find(tile.block);
  return product == plan_.tile_products.end() ? nullptr : &product->second;
}

int64_t NestEmitter::FirstRowAt(const plan::TileProduct& product, const plan::AccumulatorTile& tile,
                                int64_t offset) const {
  const int64_t row = digits_[product.fill.row_digit].offset % product.fill.rows;
  const tensor::Affine& output = plan_.accesses.at(tile.block).store.affine;
  return offset - row * output.CoefficientOf(product.fill.row_digit);
}

llvm::AllocaInst* NestEmitter::NewTileRegister(const plan::TileProduct& product) {
  llvm::AllocaInst* slot = NewSlot(RegisterVector(builder_));
  StoreRegister(builder_,
                builder_.CreateIntrinsic(
                    llvm::Intrinsic::x86_tilezero_internal, {},
                    {Count(builder_, product.fill.rows), Count(builder_, 4 * state_.chunk.active)}),
                slot);
  return slot;
}

/// Adds the products of all rows when the code is at the first one.
void NestEmitter::EmitTileProduct(const plan::TileProduct& product, const Slots& slots) {
  if (digits_[product.fill.row_digit].offset % product.fill.rows != 0) return;
  IrBuilder& b = builder_;
  const plan::BlockAccesses& accesses = plan_.accesses.at(slots.tile->block);
  const auto load = [&](const tensor::DotFactor& factor, int64_t rows, int64_t bytes,
                        int64_t stride) {
    const plan::PlacedAccess& access = accesses.loads.at(factor.load.get());
    llvm::Value* from = memory_.AddressOf(access.buffer, digits_.Evaluate(access.affine));
    return b.CreateIntrinsic(
        llvm::Intrinsic::x86_tileloadd64_internal, {},
        {Count(b, rows), Count(b, bytes), from, b.getInt64(static_cast<uint64_t>(stride))});
  };
  const int64_t group_bytes = 4 * product.fill.groups, lane_bytes = 4 * state_.chunk.active;
  llvm::Value* rows = load(product.rows, product.fill.rows, group_bytes, product.row_stride);
  llvm::Value* columns =
      load(product.columns, product.fill.groups, lane_bytes, product.group_stride);
  const int64_t at = digits_.Evaluate(accesses.store.affine).constant;
  llvm::AllocaInst* slot = slots.by_offset.at(at);
  llvm::Value* sums =
      b.CreateIntrinsic(ProductIntrinsic(product.instruction->name), {},
                        {Count(b, product.fill.rows), Count(b, lane_bytes), Count(b, group_bytes),
                         LoadRegister(b, slot), rows, columns});
  StoreRegister(b, sums, slot);
}

/// The position's row, by way of memory: tile registers have no other way out.
llvm::Value* NestEmitter::RowOfRegister(const plan::TileProduct& product, Slots& slots,
                                        int64_t offset) {
  IrBuilder& b = builder_;
  const int64_t first = FirstRowAt(product, *slots.tile, offset);
  llvm::Value*& stored = slots.stored[first];
  if (stored == nullptr) {
    llvm::Type* type = RegisterVector(b);
    stored = addresses_.AtEntry([&]() -> llvm::Value* {
      llvm::AllocaInst* memory = b.CreateAlloca(type);
      memory->setAlignment(llvm::Align(kRowBytes));
      return memory;
    });
    b.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64_internal, {},
                      {Count(b, product.fill.rows), Count(b, 4 * state_.chunk.active), stored,
                       b.getInt64(kRowBytes), LoadRegister(b, slots.by_offset.at(first))});
  }
  const int64_t row = digits_[product.fill.row_digit].offset % product.fill.rows;
  const tensor::DType dtype = program_.buffers[program_.blocks[slots.tile->block].output].dtype;
  llvm::Type* type = RegisterType(b.getContext(), dtype, state_.chunk.width);
  return b.CreateAlignedLoad(type, addresses_.OffsetPointer(stored, row * kRowBytes),
                             llvm::Align(4));
}

}  // namespace bayloom::codegen
