// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/gpu/machine.h"

namespace bayloom::codegen {

/// An NVIDIA GPU, by LLVM's intrinsic functions. Shared memory is allocated when the kernel is
/// launched: static arrays end at 48 KiB.
class NvptxMachine final : public Machine {
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
  void ShareWithGroups(IrBuilder& builder) override;
  void BeginGroup(IrBuilder& builder) override;
  std::vector<llvm::Value*> MultiplyInGroup(IrBuilder& builder,
                                            const target::WgmmaInstruction& instruction,
                                            const PanelPart& rows, const PanelPart& columns,
                                            const std::vector<llvm::Value*>& sums) override;
  std::vector<llvm::Value*> WaitForGroup(IrBuilder& builder,
                                         const std::vector<llvm::Value*>& sums) override;
  void BeforeAccess(IrBuilder&, int, llvm::Value*, int64_t, llvm::Value*, bool) override {}

 private:
  llvm::Value* SpecialRegister(IrBuilder& builder, unsigned intrinsic, uint64_t count);

  llvm::Function* function_ = nullptr;
  KernelShape shape_;
};

}  // namespace bayloom::codegen
