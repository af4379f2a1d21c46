// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "bayloom/codegen/internal/emit/types.h"

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
  /// `bytes` from a pointer into the buffer on are about to be read or written, where `guard` (i1,
  /// null for true) holds. A number that no buffer has means the memory that reductions between
  /// warps use.
  virtual void BeforeAccess(IrBuilder& builder, int buffer, llvm::Value* pointer, int64_t bytes,
                            llvm::Value* guard, bool is_write) = 0;

  /// As ShuffleBits, for a register value (types.h) of any type.
  llvm::Value* Shuffle(IrBuilder& builder, llvm::Value* value, int lanes);
};

}  // namespace bayloom::codegen
