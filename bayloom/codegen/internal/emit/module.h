// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "bayloom/codegen/internal/emit/plan.h"

namespace bayloom::codegen {

/// The kernel `symbol` (compile.h says what it takes) and the bodies of its parallel loops.
std::unique_ptr<llvm::Module> EmitModule(llvm::LLVMContext& context, const tensor::Program& program,
                                         const EmitPlan& plan, const std::string& symbol);

}  // namespace bayloom::codegen
