// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/codegen/cpu/nest_context.h"
#include "bayloom/codegen/cpu/shift_sums.h"
#include "bayloom/codegen/cpu/tile_sums.h"
#include "bayloom/plan/cpu/guard.h"

namespace bayloom::codegen {

/// What emitters of a code shape ask of the one that goes through the tree.
class TreeEmitter {
 public:
  virtual ~TreeEmitter() = default;
  virtual void EmitBody(tensor::NodeRef node) = 0;
  /// As a loop outside of tiles.
  virtual void EmitLoop(tensor::LoopId loop) = 0;
};

/// Emits the loops of an accumulator tile: its sums begin, its reduction loops run outermost with
/// all its positions inside, and the sums, with what reads them, are stored.
class TileEmitter final : public TileLoops {
 public:
  TileEmitter(NestContext& nest, const plan::AccumulatorTile& tile, TreeEmitter& tree);

  const plan::AccumulatorTile& tile() const { return tile_; }
  void Emit();
  /// The tile's loops, reduction loops first.
  void EmitNest() { EmitLoopsFrom(0); }
  /// Adds the block's value at the place where the code is.
  void AddTerm();

  int64_t StepsOf(tensor::DigitId digit) const override;
  bool Iterate(tensor::LoopId loop, bool unroll, const LoopEmitter::Body& body) override;

 private:
  using Body = LoopEmitter::Body;

  void EmitPass();
  void EmitLoopsFrom(size_t from);
  /// Runs `body` where the guards hold that the tile's first `loops` loops, and not fewer, decide.
  void EmitGuarded(size_t loops, const Body& body);
  size_t DecidingLoops(const plan::Guard& guard) const;
  void EmitIf(llvm::Value* condition, const Body& body);
  void ForEachPosition(size_t from, const Body& body);
  /// What the output holds at the position.
  llvm::Value* OldSum();
  /// The result of the position, with everything that was summed up elsewhere.
  llvm::Value* FinalValue(int64_t offset);
  void EmitEpilogue(const plan::TileEpilogue& epilogue, llvm::Value* value);

  NestContext& nest_;
  const plan::AccumulatorTile& tile_;
  TreeEmitter& tree_;
  const tensor::Block& block_;
  const plan::BlockAccesses& accesses_;
  std::vector<plan::Guard> guards_;
  std::optional<plan::SumBlocks> blocks_;
  /// The sums start at the neutral element, and what the output holds is added at the end.
  bool adds_old_ = false;
  std::unique_ptr<ShiftSums> shift_;  ///< of shifted operands; null if there are none
  std::unique_ptr<TileSums> sums_;    ///< of the pass that is being emitted
};

}  // namespace bayloom::codegen
