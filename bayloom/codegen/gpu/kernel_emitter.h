// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bayloom/codegen/gpu/gpu_memory.h"
#include "bayloom/codegen/ir/loop_emitter.h"

namespace bayloom::codegen {

/// Emits one kernel of a program.
class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const tensor::Program& program, const plan::GpuPlan& plan,
                const plan::KernelPlan& kernel, const AliasScopes& scopes, Machine& machine,
                const std::string& symbol);

  llvm::Function* Emit();

 private:
  using Body = LoopEmitter::Body;

  /// Which threads do what is not shared, at a place in the loop tree.
  struct Team {
    llvm::Value* active = nullptr;  ///< i1: this thread is one of them; null: all are
    llvm::Value* member = nullptr;  ///< i1: this thread shares reductions; null: all do
    int group = 0;                  ///< threads that share a reduction; 0: as the reduction says
    /// Loops over threads around. Their digits mean nothing where `member` does not hold.
    const plan::ThreadNest* nest = nullptr;
  };

  void EmitBlocks(llvm::BasicBlock& work);
  void EmitGrid(llvm::BasicBlock& work);
  void EmitNodes(const std::vector<tensor::NodeRef>& nodes, const Team& team);
  void EmitNode(tensor::NodeRef node, const Team& team);
  void EmitThreads(const plan::ThreadNest& nest);
  void EmitCooperative(tensor::LoopId loop);
  /// One thread's share of the iterations of a loop that `threads` threads share: those from its
  /// number `first` on in steps of `threads`.
  void EmitShare(tensor::LoopId loop, llvm::Value* first, int threads);
  /// Iteration number `position` (i32) of the loop, if it is below `end` (i32; null: it is).
  void EmitIteration(tensor::LoopId loop, llvm::Value* position, llvm::Value* end, bool at_entry);
  void EmitPipeline(tensor::LoopId loop, const plan::Pipeline& pipeline, const Team& team);
  void EmitCopies(const plan::Pipeline& pipeline);
  void EnterFirstIteration(const plan::Pipeline& pipeline, tensor::LoopId loop, int64_t position);
  /// Gives a loop's digits and the slot of its rings their values at a position.
  void EnterIteration(const plan::Pipeline& pipeline, tensor::LoopId loop, llvm::Value* position,
                      llvm::Value* slot);
  llvm::Value* Turn(llvm::Value* slot, int64_t last, int64_t first, int64_t step);
  void EmitAsyncCopy(tensor::BlockId block, const tensor::AsyncCopy& copy);
  void EmitThreadReduce(tensor::LoopId loop, const Team& team);
  llvm::Value* Combine(const tensor::Block& block, llvm::Value* value, int threads);
  llvm::Value* CombineWarps(const tensor::Block& block, llvm::Value* value, int threads);
  void Barrier();

  // Open axes.
  void DefineSizes();
  /// How many steps the digit takes, in a loop that starts here (i64); null: all it has.
  /// `together`: the same number for all threads of a block.
  llvm::Value* TripsOf(tensor::DigitId digit, bool together);
  /// TripsOf those of a loop over the grid, as integers of this type.
  std::map<tensor::DigitId, llvm::Value*> GridTrips(llvm::Type* type);
  /// How many iterations the grid's loops have then, as an integer of the type of `position`.
  llvm::Value* GridIterations(const std::map<tensor::DigitId, llvm::Value*>& trips,
                              llvm::Value* position);
  /// Whether this thread's iteration of the loops over threads is within bounds (i1; null: all
  /// are).
  llvm::Value* ThreadsWithin(const plan::ThreadNest& nest,
                             const std::vector<tensor::DigitId>& digits);
  /// How many iterations of a loop over these digits, slowest first, are within bounds: what the
  /// slowest one says, the same for all threads of a block (i64); null: all.
  llvm::Value* IterationsWithin(const std::vector<tensor::DigitId>& digits);

  // What one thread does.
  void EmitBody(tensor::LoopId loop);
  void EmitTree(tensor::NodeRef node);
  void IterateDigits(const std::vector<tensor::DigitId>& digits, size_t from, bool unroll,
                     bool together, const Body& body);
  void IterateLanes(const plan::VectorLoop& vector, bool unroll, const Body& body);
  void EmitBlock(tensor::BlockId block);
  void EmitStatement(tensor::BlockId block);

  // What a warp does together.
  /// A tensorized loop, by the instruction for matrices.
  void EmitWarpProduct(const plan::WarpProduct& product);
  /// Loops over columns and a tensorized loop, by the instruction of a group of warps. The sums are
  /// not known until FinishGroupProducts.
  void EmitGroupProduct(const plan::WarpGroupProduct& product);
  Machine::PanelPart PanelPartOf(const plan::WarpGroupProduct::Factor& factor);
  void FinishGroupProducts();
  /// The registers of a factor's matrices at this place, loaded once in straight code.
  const std::vector<llvm::Value*>& LoadFactor(const plan::WarpFactor& factor, int matrices);
  std::vector<llvm::Value*> LoadRows(const plan::WarpProduct& product);
  tensor::DigitId PairOfColumns(const plan::WarpProduct& product) const;
  std::vector<llvm::Value*> LoadColumns(const plan::WarpProduct& product);
  std::vector<llvm::Value*> LoadRowElements(const plan::WarpProduct& product);
  std::vector<llvm::Value*> LoadColumnElements(const plan::WarpProduct& product);
  llvm::Value* LoadElement(const plan::WarpFactor& factor, tensor::DigitId depth, int half);
  /// Of a row of a matrix that is loaded at once.
  int64_t LineElements(const plan::WarpFactor& factor) const;
  /// Bits [first, first + count) of the thread's number in its warp, times `scale`, as a digit.
  DigitValue Lane(int first, int count, int64_t scale = 1);

  /// Runs the body where a guarded block's iterators are within their extents, and those of a block
  /// that writes global memory within the bounds of open axes.
  void EmitWithin(tensor::BlockId id, const Body& body);
  /// Whether they are within the extents (i1; null for true); false in `any`: nowhere here.
  llvm::Value* WithinExtents(const tensor::Block& block, bool& any);
  /// Whether they are within the bounds of open axes (i1; null for true).
  llvm::Value* WithinBounds(const tensor::Block& block);
  /// The only block below a loop, if it ends at bounds and all of the loop is on one side of them;
  /// else -1, as where that has been asked.
  tensor::BlockId BoundedHere(tensor::NodeRef node) const;
  /// Both hold; null for true.
  llvm::Value* Both(llvm::Value* a, llvm::Value* b);
  void EmitIf(llvm::Value* condition, const Body& body);
  llvm::Value* Number(int64_t value) { return builder_.getInt32(static_cast<uint32_t>(value)); }
  void Forget(const std::vector<tensor::DigitId>& digits);

  const tensor::Program& program_;
  const plan::GpuPlan& plan_;
  const plan::KernelPlan& kernel_;
  Machine& machine_;
  llvm::Function* function_;
  IrBuilder builder_;
  Digits digits_;
  AddressBuilder addresses_;
  GpuMemoryEmitter memory_;
  EmitState state_;
  LoopEmitter loops_;
  llvm::Value* thread_ = nullptr;            ///< i32
  std::set<tensor::BlockId> within_;         ///< that are within the bounds of open axes here
  std::set<tensor::DigitId> thread_digits_;  ///< of the loops over threads around
  llvm::Instruction* anchor_;                ///< what is computed at the entry goes after it
  /// What LoadFactor has loaded since the last barrier: by basic block, address of the buffer's
  /// part and distance from it.
  std::map<std::tuple<llvm::BasicBlock*, llvm::Value*, int64_t>, std::vector<llvm::Value*>>
      matrices_;
  std::map<std::pair<int, int>, llvm::Value*> lanes_;  ///< bits of the thread's number
  llvm::Value* row_and_half_ = nullptr;                ///< of them, bits 0 to 2 and 4
  /// Sums that a group of warps is adding to.
  struct PendingSum {
    tensor::BufferId buffer;
    IndexValue place;  ///< constant
  };
  std::vector<PendingSum> pending_;
  /// The reduction whose share is being emitted, and this thread's result.
  tensor::BlockId shared_block_ = -1;
  llvm::AllocaInst* partial_ = nullptr;
};

/// Moves arrays with constant indices into registers.
void PromoteArrays(llvm::Function& function);

}  // namespace bayloom::codegen
