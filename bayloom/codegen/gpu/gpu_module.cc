// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/gpu_module.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include "bayloom/codegen/gpu/kernel_emitter.h"

namespace bayloom::codegen {
namespace {

/// Functions that are neither here nor instructions are the C library's.
Status CheckIsSelfContained(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic()) continue;
    return Error{"there is no device code for the C library's '" + function.getName().str() + "'"};
  }
  return Ok();
}

void AddReaches(const tensor::Program& program, const plan::GpuPlan& plan,
                const plan::KernelPlan& kernel, GpuLaunch& launch) {
  if (kernel.grid >= 0) launch.block_share = kernel.threads;
  for (const tensor::DigitId digit : kernel.GridDigits(program)) {
    const int64_t extent = program.digit_extents[digit];
    const auto open = plan.open.find(digit);
    if (open == plan.open.end()) {
      launch.fixed_iterations *= extent;
      continue;
    }
    for (const plan::OpenAxis& axis : open->second) {
      launch.reaches.push_back({extent, axis.size, axis.index.constant,
                                axis.index.CoefficientOf(digit), &axis != &open->second.back()});
    }
  }
}

}  // namespace

void PromoteArrays(llvm::Function& function) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.run(function, functions);
}

Result<GpuLaunch> EmitKernel(llvm::Module& module, const tensor::Program& program,
                             const plan::GpuPlan& plan, size_t number, Machine& machine,
                             const std::string& symbol) {
  const plan::KernelPlan& kernel = plan.kernels[number];
  const AliasScopes scopes(module.getContext(), program.buffers.size());
  KernelEmitter emitter(module, program, plan, kernel, scopes, machine, symbol);
  PromoteArrays(*emitter.Emit());
  if (Status s = CheckIsSelfContained(module); !s) return s.error();
  GpuLaunch launch;
  launch.symbol = symbol;
  launch.blocks = kernel.blocks;
  launch.threads = kernel.threads;
  launch.shared_bytes = kernel.shared_bytes;
  AddReaches(program, plan, kernel, launch);
  return launch;
}

}  // namespace bayloom::codegen
