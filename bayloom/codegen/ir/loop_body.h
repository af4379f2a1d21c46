// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Function.h>

#include <string>

#include "bayloom/codegen/ir/memory.h"
#include "bayloom/codegen/ir/types.h"
#include "bayloom/plan/memory_plan.h"

namespace bayloom::codegen {

/// Slots, of eight bytes, of the context that the body of a parallel loop is handed: the kernel's
/// arguments, then the running values of the loops around. The first two are also the first fields
/// of bayloom_kernel_call (codegen/runtime/bayloom_runtime.h).
enum { kParameterSlot, kWorkspaceSlot, kFirstValueSlot };

llvm::Value* ContextSlot(IrBuilder& b, llvm::Value* context, int64_t slot);

/// A bayloom_loop_body without code.
llvm::Function* DeclareLoopBody(llvm::Module& module, const std::string& name,
                                llvm::GlobalValue::LinkageTypes linkage);

/// What the body reads and writes, from its context.
MemoryEmitter::Arguments LoadArguments(IrBuilder& b, llvm::Function* body,
                                       const plan::MemoryPlan& memory);

llvm::FunctionCallee DeclareParallelFor(llvm::Module& module);

}  // namespace bayloom::codegen
