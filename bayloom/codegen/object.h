// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "bayloom/base/result.h"
#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// Makes known to LLVM the architectures that there is code for. Thread safe; costs nothing again.
void InitializeLlvm();

/// LLVM's description of the target, for use by this thread only; it lives as long as the thread.
/// Fails for a processor LLVM does not know.
Result<llvm::TargetMachine*> TargetMachineFor(const target::Target& target);

/// Runs the passes over a module that code generation is preceded by.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine, const target::Target& target);

/// Machine code for the module, as an object file or as assembly. The module is used up. Fails with
/// what LLVM says where it finds no code, such as that registers do not suffice.
Result<std::string> EmitMachineCode(llvm::Module& module, llvm::TargetMachine& machine,
                                    llvm::CodeGenFileType type);

}  // namespace bayloom::codegen
