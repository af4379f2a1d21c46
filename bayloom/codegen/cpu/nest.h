// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bayloom/codegen/cpu/dot_product.h"
#include "bayloom/codegen/ir/expression.h"
#include "bayloom/codegen/ir/loop_emitter.h"
#include "bayloom/plan/cpu/cpu_plan.h"
#include "bayloom/plan/cpu/guard.h"
#include "bayloom/plan/cpu/sum_blocks.h"

namespace bayloom::codegen {

/// What all functions of a module have in common.
struct ModuleState {
  const tensor::Program& program;
  const plan::CpuPlan& plan;
  llvm::Module& module;
  const AliasScopes& scopes;
  std::string symbol;
  int parallel_loops = 0;  ///< outlined so far
};

/// Emits a part of a program's loop tree into one function: the whole tree into the kernel, the
/// body of a parallel loop into a function that threads call.
class NestEmitter {
 public:
  /// `function` has an entry block that ends in `anchor`; `arguments` are available there.
  NestEmitter(ModuleState& module, llvm::Function* function, llvm::Instruction* anchor,
              MemoryEmitter::Arguments arguments);

  /// Emits the children of a node at the end of the function; finish with Finish().
  void EmitBody(tensor::NodeRef node);
  /// The same for the node itself.
  void EmitNode(tensor::NodeRef node);
  /// Emits iterations [begin, end) of a parallel loop. `outer` are the digits of the loops around
  /// it, their running values available in this function.
  void EmitIterations(tensor::LoopId loop, const Digits& outer, llvm::Value* begin,
                      llvm::Value* end);
  /// Ends the function: returns, and moves accumulators into registers.
  void Finish();

 private:
  using Body = LoopEmitter::Body;
  /// Accumulators of a tile while its reduction loops are being emitted, by the constant part of
  /// the output's index.
  struct Slots {
    const plan::AccumulatorTile* tile;
    std::vector<plan::Guard> guards;
    std::optional<plan::SumBlocks> blocks = {};
    /// The registers start at zero, and what the output holds is added at the end.
    bool adds_old = false;
    std::map<int64_t, llvm::AllocaInst*> by_offset = {};
    /// Of folded loops: further registers that take turns with the first.
    std::map<int64_t, std::vector<llvm::AllocaInst*>> others = {};
    std::map<int64_t, llvm::AllocaInst*> totals = {};  ///< of `blocks`
    std::map<int64_t, llvm::Value*> stored = {};       ///< where tile registers were stored
    /// Of shifted operands: what is to be taken away from the sums, by the constant part of
    /// `unshifted`, the other operand's index as far as it depends on the position.
    std::map<int64_t, llvm::AllocaInst*> shifts = {};
    tensor::Affine unshifted = {};
  };

  void EmitBlock(tensor::BlockId block);
  void EmitPlainLoop(tensor::LoopId loop);
  void EmitHoisted(tensor::LoopId loop);

  // Loops that lanes are loaded across (across.cc).
  void EmitAcross(const plan::AcrossLoop& across);
  void EmitAcrossChunk(const plan::AcrossLoop& across, const plan::VectorLoop& vector,
                       const plan::Chunk& chunk);

  // Iteration (iterate.cc).
  /// Runs `body` for all iterations of a loop other than a parallel one.
  void Iterate(tensor::LoopId loop, bool unroll, const Body& body);
  void IterateDigits(const std::vector<tensor::DigitId>& digits, size_t from, bool unroll,
                     const Body& body);
  void IterateLanes(const plan::VectorLoop& vector, bool unroll, const Body& body);
  /// Runs `body` for every chunk of lanes, in a loop where there are more than `max_unrolled`.
  void IterateChunks(const plan::VectorLoop& vector, int64_t max_unrolled,
                     const std::function<void(const plan::Chunk&)>& body);
  void RunChunk(const plan::VectorLoop& vector, const plan::Chunk& chunk, const Body& body) {
    loops_.RunChunk(vector, chunk, body);
  }
  void Repeat(tensor::DigitId digit, int64_t steps, const Body& body) {
    loops_.Repeat(digit, steps, body);
  }
  void RunLoop(tensor::DigitId digit, int64_t extent, int64_t scale, const Body& body) {
    loops_.RunLoop(digit, extent, scale, body);
  }
  void EmitLoop(llvm::Value* begin, llvm::Value* end,
                const std::function<void(llvm::PHINode*)>& body) {
    loops_.EmitLoop(begin, end, body);
  }
  /// Steps a digit takes inside a tile that is being emitted, or all it has.
  int64_t StepsOf(tensor::DigitId digit) const;

  // Accumulators (accumulate.cc).
  void EmitTile(const plan::AccumulatorTile& tile);
  void EmitTileAt(const plan::AccumulatorTile& tile);
  /// The tile's loops from number `from` on, reduction loops first, all positions inside.
  void EmitNest(const Slots& slots, size_t from);
  /// Runs `body` where the guards hold that the tile's first `loops` loops, and not fewer, decide.
  void EmitGuarded(const Slots& slots, size_t loops, const Body& body);
  size_t DecidingLoops(const plan::AccumulatorTile& tile, const plan::Guard& guard) const;
  void EmitIf(llvm::Value* condition, const Body& body);
  void ForEachPosition(const plan::AccumulatorTile& tile, size_t from, const Body& body);
  /// What a register holds at the end, with the totals of its blocks.
  llvm::Value* RegisterValue(const Slots& slots, int64_t offset);
  /// The result of a position, with everything that was summed up elsewhere.
  llvm::Value* FinalValue(Slots& slots, int64_t offset);
  void EmitEpilogue(const plan::TileEpilogue& epilogue, tensor::BufferId result,
                    llvm::Value* value);
  void EmitReduction(tensor::BlockId block, ExpressionEmitter& values);
  llvm::Value* StartValue(const plan::AccumulatorTile& tile);
  llvm::Value* OldValue(tensor::BlockId block);
  llvm::Value* Combined(tensor::BlockId block, ExpressionEmitter& values, llvm::Value* old,
                        const Slots* slots);

  // Reductions in lanes (fold.cc).
  /// The tile being emitted that folds this loop; null if there is none.
  const Slots* FoldedAt(tensor::LoopId loop) const;
  void IterateFold(const Slots& slots, bool unroll, const Body& body);
  /// Adds the registers that take turns, with neutral elements.
  void AddFoldRegisters(Slots& slots);
  /// The registers of an offset, the first one first.
  std::vector<llvm::AllocaInst*> RegistersOf(const Slots& slots, int64_t offset) const;
  /// What they hold together.
  llvm::Value* TurnsCombined(const Slots& slots, int64_t offset);
  int LanesOfSlots(const plan::AccumulatorTile& tile) const;
  llvm::Value* WithNeutralLanes(const tensor::Block& block, llvm::Value* values, int lanes);
  llvm::Value* Folded(const tensor::Block& block, llvm::Value* lanes);

  // Dot products (dot_products.cc).
  bool IsShifted(const plan::AccumulatorTile& tile) const;
  llvm::Value* CombinedDot(const plan::DotPlan& dot, const plan::BlockAccesses& accesses,
                           ExpressionEmitter& values, llvm::Value* old, const Slots* slots);
  llvm::Value* CombinedPart(const plan::DotPlan& dot, const PackedFactor& a, const PackedFactor& b,
                            llvm::Value* old, const Slots* slots);
  llvm::Value* CombinedOneByOne(const plan::DotPlan& dot, tensor::BlockId block, llvm::Value* old);
  PackedFactor EmitFactor(const plan::DotPlan& dot, const tensor::DotFactor& factor,
                          const plan::BlockAccesses& accesses, ExpressionEmitter& values);
  PackedFactor EmitApart(const plan::DotPlan& dot, const tensor::DotFactor& factor,
                         const plan::BlockAccesses& accesses);
  llvm::Value* LoadPacked(const plan::DotPlan& dot, const plan::PlacedAccess& access,
                          llvm::Value* guard);
  tensor::Affine UnshiftedIndex(const plan::AccumulatorTile& tile) const;
  bool IsFirstWithShift(const Slots& slots) const;

  // Rows that an instruction multiplies two at a time (row_pairs.cc).
  const plan::RowPairs* PairsOf(const plan::AccumulatorTile& tile) const;
  /// Whether the registers at this position hold parts of two rows.
  bool IsPaired(const plan::AccumulatorTile& tile) const;
  void EmitRowPair(const Slots& slots, ExpressionEmitter& values);
  llvm::Value* RowOfPair(const Slots& slots, int64_t offset);

  // Sums in tile registers (tile_products.cc), each one's slot that of its first row.
  const plan::TileProduct* TileProductOf(const plan::AccumulatorTile& tile) const;
  /// The offset of the first row of the register in which the position is.
  int64_t FirstRowAt(const plan::TileProduct& product, const plan::AccumulatorTile& tile,
                     int64_t offset) const;
  llvm::AllocaInst* NewTileRegister(const plan::TileProduct& product);
  void EmitTileProduct(const plan::TileProduct& product, const Slots& slots);
  llvm::Value* RowOfRegister(const plan::TileProduct& product, Slots& slots, int64_t offset);

  // Sums in blocks (sum_blocks.cc).
  llvm::AllocaInst* NewSlot(llvm::Type* type);
  /// The tile being emitted whose sums are cut at this loop; null if there is none.
  Slots* BlockedAt(tensor::LoopId loop);
  void IterateBlocks(const Slots& slots, bool unroll, const Body& body);
  void RunBlocks(const Slots& slots, const Body& body);
  void AddToTotals(const Slots& slots);

  // Parallel loops (parallel.cc).
  void EmitParallel(tensor::LoopId loop);
  std::vector<llvm::Value*> RunningValues() const;

  ModuleState& module_;
  const tensor::Program& program_;
  const plan::CpuPlan& plan_;
  llvm::Function* function_;
  IrBuilder builder_;
  Digits digits_;
  AddressBuilder addresses_;
  MemoryEmitter::Arguments arguments_;
  MemoryEmitter memory_;
  EmitState state_;
  LoopEmitter loops_;
  std::deque<Slots> active_;  ///< tiles being emitted, outermost first
  size_t fold_turn_ = 0;      ///< which register of a folded loop takes what is emitted
  std::vector<llvm::AllocaInst*> slots_;
};

}  // namespace bayloom::codegen
