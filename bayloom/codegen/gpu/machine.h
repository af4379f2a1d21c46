// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "bayloom/codegen/ir/types.h"
#include "bayloom/target/mma_instruction.h"
#include "bayloom/target/wgmma_instruction.h"

namespace bayloom::codegen {

/// What a kernel needs of the machine around it.
struct KernelShape {
  int pointers = 0;  ///< arguments: the parameters in order, then the workspace
  int threads = 1;   ///< of a block
};

/// What differs between the machines that kernels are emitted for. Everything that a thread does
/// beyond arithmetic and access to memory goes through here, so that what is tested on one machine
/// is what runs on another.
class Machine {
 public:
  /// An address in a buffer.
  struct Place {
    int buffer;
    llvm::Value* pointer;
  };

  /// What a group of warps reads of an operand in panels (target/wgmma_instruction.h): where
  /// the first element is, and from there to the same place of the next panel.
  struct PanelPart {
    Place first;
    int64_t panel_bytes;
    bool along_depth;  ///< rows of the panels run
  };

  virtual ~Machine() = default;

  /// Declares a kernel, whose arguments the functions below refer to from then on.
  virtual llvm::Function* BeginKernel(llvm::Module& module, const std::string& symbol,
                                      const KernelShape& shape) = 0;
  /// Pointer number `index` of the kernel's arguments.
  virtual llvm::Value* Pointer(IrBuilder& builder, int index) = 0;
  /// The block's shared memory.
  virtual llvm::Value* SharedMemory(IrBuilder& builder) = 0;
  /// Numbers (i32) of the block in the grid and of the thread in the block.
  virtual llvm::Value* BlockIndex(IrBuilder& builder) = 0;
  virtual llvm::Value* ThreadIndex(IrBuilder& builder) = 0;
  /// Waits for all threads of the block; what they wrote before can be read after.
  virtual void Barrier(IrBuilder& builder) = 0;
  /// The i32 that the thread whose number in the warp differs by the bits of `lanes` passes.
  virtual llvm::Value* ShuffleBits(IrBuilder& builder, llvm::Value* bits, int lanes) = 0;
  /// Begins to copy 4, 8 or 16 bytes from global memory into shared memory, aligned to as many;
  /// zeros where `exists` (i1, null for true) does not hold. What is copied can be read by this
  /// thread once it has waited, and by others after a barrier behind that.
  virtual void CopyAsync(IrBuilder& builder, const Place& to, const Place& from, int bytes,
                         llvm::Value* exists) = 0;
  /// The copies begun since the last call become a group.
  virtual void CommitCopies(IrBuilder& builder) = 0;
  /// Waits until at most `groups` of the thread's last groups are under way.
  virtual void WaitForCopies(IrBuilder& builder, int groups) = 0;
  /// All threads of a warp load `count` (2 or 4) matrices of 8 x 8 elements of 16 bits from shared
  /// memory: thread 8 * m + r names row r of matrix m, `count` of them count. Thread 4 * g + t gets
  /// of each, as one i32, elements 2 * t and 2 * t + 1 of row g, or, transposed, of column g. Of 8
  /// x 4 elements of 32 bits, which are not transposed, it gets element t of row g.
  virtual std::vector<llvm::Value*> LoadMatrices(IrBuilder& builder, const Place& row, int count,
                                                 bool transposed) = 0;
  /// What each thread of a warp has of sums + rows * columns: four floats, of matrices whose parts
  /// are i32 as LoadMatrices brings them, in the order of PTX (mma.sync).
  virtual std::vector<llvm::Value*> Multiply(IrBuilder& builder,
                                             const target::MmaInstruction& instruction,
                                             const std::vector<llvm::Value*>& rows,
                                             const std::vector<llvm::Value*>& columns,
                                             const std::vector<llvm::Value*>& sums) = 0;
  /// What threads wrote into shared memory before the next barrier can be read by groups of warps
  /// behind it.
  virtual void ShareWithGroups(IrBuilder& builder) = 0;
  /// Before the first product of a group, and before those behind WaitForGroup.
  virtual void BeginGroup(IrBuilder& builder) = 0;
  /// All threads of a group of warps multiply; each has the sums of the first 8 columns, in the
  /// order of PTX (mma.sync), then of the next. What is returned must not be used, other than as
  /// sums of further products, before WaitForGroup.
  virtual std::vector<llvm::Value*> MultiplyInGroup(IrBuilder& builder,
                                                    const target::WgmmaInstruction& instruction,
                                                    const PanelPart& rows, const PanelPart& columns,
                                                    const std::vector<llvm::Value*>& sums) = 0;
  /// Waits for the group's products; returns the sums that they are added to.
  virtual std::vector<llvm::Value*> WaitForGroup(IrBuilder& builder,
                                                 const std::vector<llvm::Value*>& sums) = 0;
  /// `bytes` from a pointer into the buffer on are about to be read or written, where `guard` (i1,
  /// null for true) holds. A number that no buffer has means the memory that reductions between
  /// warps use.
  virtual void BeforeAccess(IrBuilder& builder, int buffer, llvm::Value* pointer, int64_t bytes,
                            llvm::Value* guard, bool is_write) = 0;

  /// As ShuffleBits, for a register value (types.h) of any type.
  llvm::Value* Shuffle(IrBuilder& builder, llvm::Value* value, int lanes);
};

}  // namespace bayloom::codegen
