// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/internal/gpu/machine.h"

namespace bayloom::codegen {

/// What a kernel for the stand-in (gpu/stand_in.h) calls, found at the address it is given as
/// context. Each function gets that address.
struct StandInCalls {
  void (*barrier)(StandInCalls* self);
  uint32_t (*shuffle)(StandInCalls* self, uint32_t bits, uint32_t lanes);
  void (*access)(StandInCalls* self, uint32_t buffer, const void* pointer, uint32_t bytes,
                 uint32_t is_write);
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
  void BeforeAccess(IrBuilder& builder, int buffer, llvm::Value* pointer, int64_t bytes,
                    llvm::Value* guard, bool is_write) override;

 private:
  llvm::Value* Call(IrBuilder& builder, size_t member, llvm::Type* result,
                    const std::vector<llvm::Value*>& arguments);

  llvm::Function* function_ = nullptr;
};

}  // namespace bayloom::codegen
