// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <vector>

#include "bayloom/codegen/cpu/tile_sums.h"

namespace bayloom::codegen {

/// A register for each position. Long sums are cut into blocks (plan/cpu/sum_blocks.h): a block is
/// summed up in the register, and then added to a total.
class RegisterSums : public TileSums {
 public:
  RegisterSums(NestContext& nest, const plan::AccumulatorTile& tile,
               const std::optional<plan::SumBlocks>& blocks, ShiftSums* shift)
      : nest_(nest),
        tile_(tile),
        block_(nest.program.blocks[tile.block]),
        dtype_(nest.program.buffers[block_.output].dtype),
        blocks_(blocks),
        shift_(shift) {}

  void Begin(int64_t offset, llvm::Value* start) override;
  void Add(ExpressionEmitter& values) override;
  llvm::Value* Result(int64_t offset) override { return RegisterValue(offset); }
  bool Iterate(tensor::LoopId loop, bool unroll, const LoopEmitter::Body& body) override;

 protected:
  /// The registers of a position, the first one first.
  virtual std::vector<llvm::AllocaInst*> RegistersOf(int64_t offset) const {
    return {first_.at(offset)};
  }
  /// The one of them that takes what is emitted.
  virtual size_t turn() const { return 0; }
  virtual int lanes() const { return nest_.state.chunk.width; }
  /// What the registers of a position hold together, with the total of its blocks.
  llvm::Value* RegisterValue(int64_t offset);
  int64_t OffsetHere() const;
  llvm::Value* Combine(llvm::Value* a, llvm::Value* b);

  NestContext& nest_;
  const plan::AccumulatorTile& tile_;
  const tensor::Block& block_;
  const tensor::DType dtype_;
  std::map<int64_t, llvm::AllocaInst*> first_;  ///< of each position

 private:
  using Body = LoopEmitter::Body;

  /// The same without the total.
  llvm::Value* HeldTogether(int64_t offset);
  void IterateBlocks(bool unroll, const Body& body);
  void RunBlocks(const Body& body);
  void AddToTotals();

  const std::optional<plan::SumBlocks> blocks_;
  ShiftSums* const shift_;
  std::map<int64_t, llvm::AllocaInst*> totals_;
};

}  // namespace bayloom::codegen
