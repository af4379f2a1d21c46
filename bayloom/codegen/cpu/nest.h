// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/codegen/cpu/nest_context.h"
#include "bayloom/codegen/cpu/tile_emitter.h"

namespace bayloom::codegen {

/// Emits a part of a program's loop tree into one function: the whole tree into the kernel, the
/// body of a parallel loop into a function that threads call.
///
/// It goes down the tree. The first of these that the plan has for a node takes it:
///  1. a tile of sums in registers (TileEmitter), whose sums are held in one of four ways:
///     one register a position (RegisterSums), several that take turns and are folded at the end
///     (FoldedSums), one for parts of two rows (PairedSums), a tile register for many rows
///     (TileRegisterSums); products of several terms at once are dot products (dot_emitter.h);
///  2. a parallel loop: a function of its own;
///  3. a loop that lanes are loaded across (EmitAcross);
///  4. any other loop, in chunks of lanes where it is vectorized, unrolled where the plan says so.
/// Blocks are stored where they are, reductions outside of tiles through memory.
class NestEmitter final : private TreeEmitter {
 public:
  /// `function` has an entry block that ends in `anchor`; `arguments` are available there.
  NestEmitter(ModuleState& module, llvm::Function* function, llvm::Instruction* anchor,
              MemoryEmitter::Arguments arguments)
      : nest_(module, function, anchor, arguments) {}

  /// The values of the program's sizes (i64), which are known at the entry.
  void DefineSizes(const std::vector<llvm::Value*>& sizes);
  /// Emits the children of a node at the end of the function; finish with Finish().
  void EmitBody(tensor::NodeRef node) override;
  /// The same for the node itself.
  void EmitNode(tensor::NodeRef node);
  /// Emits iterations [begin, end) of a parallel loop. `outer` are the digits of the loops around
  /// it, their running values available in this function.
  void EmitIterations(tensor::LoopId loop, const Digits& outer, llvm::Value* begin,
                      llvm::Value* end);
  /// Ends the function: returns, and moves sums into registers.
  void Finish();

 private:
  void EmitLoop(tensor::LoopId loop) override;
  void EmitHoisted(tensor::LoopId loop);
  void EmitBlock(tensor::BlockId block);
  void EmitTile(const plan::AccumulatorTile& tile);
  void EmitParallel(tensor::LoopId loop);
  std::vector<llvm::Value*> RunningValues() const;

  NestContext nest_;
  std::vector<TileEmitter*> tiles_;  ///< being emitted, outermost first
};

}  // namespace bayloom::codegen
