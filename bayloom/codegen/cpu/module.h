// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "bayloom/codegen/compile.h"
#include "bayloom/plan/cpu/cpu_plan.h"

namespace bayloom::codegen {

/// The kernel `symbol` (compile.h says what it takes) and the bodies of its parallel loops.
std::unique_ptr<llvm::Module> EmitModule(llvm::LLVMContext& context, const tensor::Program& program,
                                         const plan::CpuPlan& plan, const std::string& symbol);

/// The kernel as KernelForm::kSteps says, of a program that StepsOf divides: its function runs
/// `steps` one after the other.
std::unique_ptr<llvm::Module> EmitModuleOfSteps(llvm::LLVMContext& context,
                                                const tensor::Program& program,
                                                const plan::CpuPlan& plan,
                                                const std::string& symbol,
                                                std::vector<KernelStep>& steps);

}  // namespace bayloom::codegen
