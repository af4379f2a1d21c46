// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/gpu/machine.h"
#include "bayloom/codegen/ir/memory.h"
#include "bayloom/plan/gpu/gpu_plan.h"

namespace bayloom::codegen {

/// Loads and stores of one kernel.
class GpuMemoryEmitter final : public MemoryEmitter {
 public:
  GpuMemoryEmitter(const tensor::Program& program, const plan::GpuPlan& plan,
                   const AliasScopes& scopes, IrBuilder& builder, AddressBuilder& addresses,
                   Machine& machine, int workspace)
      : MemoryEmitter(program, plan.memory, scopes, builder, addresses, {}),
        plan_(plan),
        machine_(machine),
        workspace_(workspace) {}

  /// Of what lies in panels, 16 bytes stay together.
  llvm::Value* AddressOf(tensor::BufferId buffer, const IndexValue& index) override;

 protected:
  llvm::Value* MakeBase(tensor::BufferId buffer) override;
  void BeforeAccess(tensor::BufferId buffer, llvm::Value* pointer, int64_t bytes,
                    llvm::Value* guard, bool is_write) override;

 private:
  llvm::Value* PlaceInPanels(tensor::BufferId buffer, llvm::Value* element);

  const plan::GpuPlan& plan_;
  Machine& machine_;
  int workspace_;  ///< number of the kernel's argument
};

}  // namespace bayloom::codegen
