#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "bayloom/codegen/emit/plan.h"

namespace bayloom {

/// The kernel `symbol` (compile.h says what it takes) and the bodies of its parallel loops.
std::unique_ptr<llvm::Module> EmitModule(llvm::LLVMContext& context, const Program& program,
                                         const EmitPlan& plan, const std::string& symbol);

}  // namespace bayloom
