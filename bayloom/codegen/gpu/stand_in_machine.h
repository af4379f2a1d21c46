// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/gpu/machine.h"

namespace bayloom::codegen {

/// What a kernel for the stand-in (gpu/stand_in.h) calls, found at the address it is given as
/// context. Each function gets that address.
/// Machine::PanelPart.
struct StandInPanelPart {
  const void* first;
  uint32_t buffer;
  uint32_t panel_bytes;
  uint32_t along_depth;
};

struct StandInCalls {
  void (*barrier)(StandInCalls* self);
  uint32_t (*shuffle)(StandInCalls* self, uint32_t bits, uint32_t lanes);
  void (*access)(StandInCalls* self, uint32_t buffer, const void* pointer, uint32_t bytes,
                 uint32_t is_write);
  /// Of `bytes` the first `valid` are read, the others are zeros.
  void (*copy)(StandInCalls* self, uint32_t to_buffer, void* to, uint32_t from_buffer,
               const void* from, uint32_t bytes, uint32_t valid);
  void (*commit)(StandInCalls* self);
  void (*wait)(StandInCalls* self, uint32_t groups);
  /// `count` registers, of two elements each, go to `registers`.
  void (*load_matrices)(StandInCalls* self, uint32_t buffer, const void* row, uint32_t count,
                        uint32_t transposed, uint32_t* registers);
  /// `registers`: those of rows, then those of columns, then the bits of the sums, which the
  /// results replace. Elements are of the type with this number (tensor::DType).
  void (*multiply)(StandInCalls* self, uint32_t type, uint32_t* registers);
  /// By a group of warps: `parts` are rows and columns, `registers` the bits of the sums of so many
  /// columns.
  void (*multiply_in_group)(StandInCalls* self, uint32_t type, const StandInPanelPart* parts,
                            uint32_t columns, uint32_t* registers);
  void (*wait_for_group)(StandInCalls* self);
};

/// One thread of a kernel.
using StandInKernel = void (*)(void* const* pointers, void* shared, StandInCalls* context,
                               uint32_t thread, uint32_t block);

/// This processor in place of a GPU: what threads do together are calls.
class StandInMachine : public Machine {
 public:
  llvm::Function* BeginKernel(llvm::Module& module, const std::string& symbol,
                              const KernelShape& shape) override;
  llvm::Value* Pointer(IrBuilder& builder, int index) override;
  llvm::Value* SharedMemory(IrBuilder& builder) override;
  llvm::Value* BlockIndex(IrBuilder& builder) override;
  llvm::Value* ThreadIndex(IrBuilder& builder) override;
  void Barrier(IrBuilder& builder) override;
  llvm::Value* ShuffleBits(IrBuilder& builder, llvm::Value* bits, int lanes) override;
  void CopyAsync(IrBuilder& builder, const Place& to, const Place& from, int bytes,
                 llvm::Value* exists) override;
  void CommitCopies(IrBuilder& builder) override;
  void WaitForCopies(IrBuilder& builder, int groups) override;
  std::vector<llvm::Value*> LoadMatrices(IrBuilder& builder, const Place& row, int count,
                                         bool transposed) override;
  std::vector<llvm::Value*> Multiply(IrBuilder& builder, const target::MmaInstruction& instruction,
                                     const std::vector<llvm::Value*>& rows,
                                     const std::vector<llvm::Value*>& columns,
                                     const std::vector<llvm::Value*>& sums) override;
  void ShareWithGroups(IrBuilder&) override {}
  void BeginGroup(IrBuilder&) override {}
  std::vector<llvm::Value*> MultiplyInGroup(IrBuilder& builder,
                                            const target::WgmmaInstruction& instruction,
                                            const PanelPart& rows, const PanelPart& columns,
                                            const std::vector<llvm::Value*>& sums) override;
  std::vector<llvm::Value*> WaitForGroup(IrBuilder& builder,
                                         const std::vector<llvm::Value*>& sums) override;
  void BeforeAccess(IrBuilder& builder, int buffer, llvm::Value* pointer, int64_t bytes,
                    llvm::Value* guard, bool is_write) override;

 private:
  /// Memory for registers that a call takes or gives.
  llvm::Value* Registers(IrBuilder& builder, size_t count);
  llvm::Value* Call(IrBuilder& builder, size_t member, llvm::Type* result,
                    const std::vector<llvm::Value*>& arguments);

  llvm::Function* function_ = nullptr;
};

}  // namespace bayloom::codegen
