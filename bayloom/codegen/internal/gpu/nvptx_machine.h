// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/internal/gpu/machine.h"

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
  void BeforeAccess(IrBuilder&, int, llvm::Value*, int64_t, llvm::Value*, bool) override {}

 private:
  llvm::Value* SpecialRegister(IrBuilder& builder, unsigned intrinsic, uint64_t count);

  llvm::Function* function_ = nullptr;
  KernelShape shape_;
};

}  // namespace bayloom::codegen
