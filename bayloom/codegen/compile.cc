// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/compile.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include "bayloom/codegen/gpu/gpu_image.h"
#include "bayloom/codegen/gpu/ptx.h"
#include "bayloom/codegen/internal/emit/module.h"
#include "bayloom/codegen/object.h"

namespace bayloom::codegen {
namespace {

/// A module ready for code generation, with what it lives in.
struct Compilation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::TargetMachine* machine;
  MemoryPlan memory;
};

Result<Compilation> Begin(const tensor::Program& program, const target::Target& target,
                          const std::string& symbol) {
  Result<llvm::TargetMachine*> machine = TargetMachineFor(target);
  if (!machine) return machine.error();
  Result<EmitPlan> plan = MakeEmitPlan(program, target);
  if (!plan) return plan.error();
  Compilation compilation;
  compilation.context = std::make_unique<llvm::LLVMContext>();
  compilation.module = EmitModule(*compilation.context, program, *plan, symbol);
  compilation.machine = *machine;
  compilation.memory = std::move(plan->memory);
  Optimize(*compilation.module, **machine, target);
  return compilation;
}

}  // namespace

Result<KernelObject> CompileProgram(const tensor::Program& program, const target::Target& target,
                                    const std::string& symbol) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    return CompileForGpu(program, target::LimitsOf(target), symbol);
  }
  Result<Compilation> compilation = Begin(program, target, symbol);
  if (!compilation) return compilation.error();
  KernelObject kernel;
  kernel.symbol = symbol;
  kernel.object = EmitMachineCode(*compilation->module, *compilation->machine,
                                  llvm::CodeGenFileType::ObjectFile);
  kernel.shared_workspace_bytes = compilation->memory.shared_bytes;
  kernel.worker_workspace_bytes = compilation->memory.worker_bytes;
  return kernel;
}

Result<std::string> EmitLlvmIr(const tensor::Program& program, const target::Target& target,
                               const std::string& symbol) {
  Result<Compilation> compilation = Begin(program, target, symbol);
  if (!compilation) return compilation.error();
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation->module->print(stream, nullptr);
  return text;
}

Result<std::string> EmitAssembly(const tensor::Program& program, const target::Target& target,
                                 const std::string& symbol) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    Result<GpuProgram> compiled = CompileToPtx(program, target::LimitsOf(target), symbol);
    if (!compiled) return compiled.error();
    return compiled->ptx;
  }
  Result<Compilation> compilation = Begin(program, target, symbol);
  if (!compilation) return compilation.error();
  return EmitMachineCode(*compilation->module, *compilation->machine,
                         llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace bayloom::codegen
