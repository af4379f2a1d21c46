// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Function.h>

#include "bayloom/codegen/runtime/bayloom_kernels.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/program.h"

namespace bayloom::codegen {

/// The workspace that the call's kernel needs.
bayloom_kernel_memory MemoryOfCall(const tensor::Program& program, const tensor::LibraryCall& call);

/// The body of a kernel that calls the runtime's function. `function` is empty and has the
/// parameters of a KernelFunction.
void EmitCall(const tensor::Program& program, const tensor::LibraryCall& call,
              llvm::Function& function);

}  // namespace bayloom::codegen
