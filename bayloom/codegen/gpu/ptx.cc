// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/ptx.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "bayloom/codegen/gpu/gpu_module.h"
#include "bayloom/codegen/gpu/nvptx_machine.h"
#include "bayloom/codegen/object.h"

namespace bayloom::codegen {
namespace {

/// A version of PTX that knows all architectures of target/gpu_limits.h.
constexpr const char* kPtxVersion = "+ptx80";

void InitializeNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

Result<llvm::TargetMachine*> NvptxTarget(const target::GpuLimits& limits) {
  InitializeNvptx();
  target::Target target;
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = limits.architecture;
  target.features = kPtxVersion;
  return TargetMachineFor(target);
}

}  // namespace

Result<GpuProgram> CompileToPtx(const tensor::Program& program, const target::GpuLimits& limits,
                                const std::string& symbol) {
  Result<llvm::TargetMachine*> target = NvptxTarget(limits);
  if (!target) return target.error();
  Result<plan::GpuPlan> plan = plan::MakeGpuPlan(program, limits);
  if (!plan) return plan.error();
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  module.setTargetTriple((*target)->getTargetTriple().str());
  module.setDataLayout((*target)->createDataLayout());
  NvptxMachine machine;
  GpuProgram compiled;
  compiled.workspace_bytes = plan->workspace_bytes;
  for (size_t i = 0; i < plan->kernels.size(); ++i) {
    Result<GpuLaunch> launch =
        EmitKernel(module, program, *plan, i, machine, symbol + "_" + std::to_string(i));
    if (!launch) return launch.error();
    compiled.launches.push_back(*std::move(launch));
  }
  Result<std::string> ptx = EmitMachineCode(module, **target, llvm::CodeGenFileType::AssemblyFile);
  if (!ptx) return ptx.error();
  compiled.ptx = *std::move(ptx);
  return compiled;
}

}  // namespace bayloom::codegen
