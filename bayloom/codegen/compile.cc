// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/compile.h"

#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <regex>

#include "bayloom/codegen/cpu/call.h"
#include "bayloom/codegen/cpu/module.h"
#include "bayloom/codegen/gpu/gpu_image.h"
#include "bayloom/codegen/gpu/ptx.h"
#include "bayloom/codegen/object.h"
#include "bayloom/tensor/library_call.h"

namespace bayloom::codegen {
namespace {

/// A module ready for code generation, with what it lives in.
struct Compilation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::TargetMachine* machine;
  plan::MemoryPlan memory;
  std::vector<KernelStep> steps;
};

Result<Compilation> Begin(const tensor::Program& program, const target::Target& target,
                          const std::string& symbol, KernelForm form = KernelForm::kWhole) {
  Result<llvm::TargetMachine*> machine = TargetMachineFor(target);
  if (!machine) return machine.error();
  Result<plan::CpuPlan> plan = plan::MakeCpuPlan(program, target);
  if (!plan) return plan.error();
  Compilation compilation;
  compilation.context = std::make_unique<llvm::LLVMContext>();
  if (form == KernelForm::kWhole) {
    compilation.module = EmitModule(*compilation.context, program, *plan, symbol);
  } else {
    compilation.module =
        EmitModuleOfSteps(*compilation.context, program, *plan, symbol, compilation.steps);
  }
  compilation.machine = *machine;
  compilation.memory = std::move(plan->memory);
  if (const auto call = tensor::AsCall(program)) {
    const bayloom_kernel_memory memory = MemoryOfCall(program, *call);
    compilation.memory.shared_bytes = memory.shared;
    compilation.memory.worker_bytes = memory.worker;
  }
  Optimize(*compilation.module, **machine, target);
  return compilation;
}

/// Bytes of the functions and constants of an object file.
int64_t CodeBytes(const std::string& object) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  uint64_t bytes = 0;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    if (section.isText() || section.isData()) bytes += section.getSize();
  }
  return static_cast<int64_t>(bytes);
}

Result<KernelObject> CompileForCpu(const tensor::Program& program, const target::Target& target,
                                   const std::string& symbol, KernelForm form) {
  Result<Compilation> compilation = Begin(program, target, symbol, form);
  if (!compilation) return compilation.error();
  Result<std::string> object = EmitMachineCode(*compilation->module, *compilation->machine,
                                               llvm::CodeGenFileType::ObjectFile);
  if (!object) return object.error();
  KernelObject kernel;
  kernel.symbol = symbol;
  kernel.steps = std::move(compilation->steps);
  kernel.object = *std::move(object);
  kernel.shared_workspace_bytes = compilation->memory.shared_bytes;
  kernel.worker_workspace_bytes = compilation->memory.worker_bytes;
  kernel.code_bytes = CodeBytes(kernel.object);
  return kernel;
}

/// The same processor as if it had no tile registers.
target::Target WithoutTileRegisters(target::Target target) {
  static const std::regex kTileFeature(R"(\+(amx-))");
  target.features = std::regex_replace(target.features, kTileFeature, "-$1");
  return target;
}

}  // namespace

Result<KernelObject> CompileProgram(const tensor::Program& program, const target::Target& target,
                                    const std::string& symbol, KernelForm form) {
  if (target.kind() == target::TargetKind::kNvidiaGpu) {
    return CompileForGpu(program, target::LimitsOf(target), symbol);
  }
  Result<KernelObject> kernel = CompileForCpu(program, target, symbol, form);
  if (kernel) return kernel;
  // LLVM cannot allocate tile registers in some loops; other instructions compute the same.
  const target::Target without = WithoutTileRegisters(target);
  if (without.features == target.features) return kernel;
  return CompileForCpu(program, without, symbol, form);
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

Result<std::string> CompileIr(const std::string& text, target::TargetKind kind) {
  target::Target target;
  target.triple = std::string(target::ToString(kind)) + "-unknown-linux-gnu";
  target.cpu = kind == target::TargetKind::kX86_64 ? "x86-64" : "generic";
  Result<llvm::TargetMachine*> machine = TargetMachineFor(target);
  if (!machine) return machine.error();
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  if (module == nullptr) {
    return Error{
        fmt::format("line {} of a module: {}", problem.getLineNo(), problem.getMessage().str())};
  }
  Optimize(*module, **machine, target);
  return EmitMachineCode(*module, **machine, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace bayloom::codegen
