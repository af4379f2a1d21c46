// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/object.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace bayloom::codegen {

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

Result<llvm::TargetMachine*> TargetMachineFor(const target::Target& target) {
  InitializeLlvm();
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  std::unique_ptr<llvm::TargetMachine>& machine =
      machines[target.triple + " " + target.cpu + " " + target.features];
  if (machine) return machine.get();
  std::string problem;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (!found) return Error{"cannot make code for '" + target.triple + "': " + problem};
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  machine.reset(found->createTargetMachine(target.triple, target.cpu, target.features, options,
                                           llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                           llvm::CodeGenOptLevel::Default));
  return machine.get();
}

void Optimize(llvm::Module& module, llvm::TargetMachine& machine, const target::Target& target) {
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  const std::string vector_bits = std::to_string(8 * target.vector_bytes);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", vector_bits);
    function.addFnAttr("min-legal-vector-width", vector_bits);
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

namespace {

/// Keeps LLVM's first error, on which it would end the process.
class FirstError final : public llvm::DiagnosticHandler {
 public:
  explicit FirstError(std::optional<std::string>& problem) : problem_(problem) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && !problem_) {
      llvm::raw_string_ostream text(problem_.emplace());
      llvm::DiagnosticPrinterRawOStream printer(text);
      info.print(printer);
    }
    return true;
  }

 private:
  std::optional<std::string>& problem_;
};

}  // namespace

/// As TargetMachine::addPassesToEmitFile sets them up, less the instruction schedulers: they take
/// time quadratic in the length of unrolled code and measured no gain over the order in which the
/// code was emitted.
Result<std::string> EmitMachineCode(llvm::Module& module, llvm::TargetMachine& machine,
                                    llvm::CodeGenFileType type) {
  std::optional<std::string> problem;
  module.getContext().setDiagnosticHandler(std::make_unique<FirstError>(problem));
  auto& llvm_machine = static_cast<llvm::LLVMTargetMachine&>(machine);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto* info = new llvm::MachineModuleInfoWrapperPass(&llvm_machine);  // owned by `passes`
  llvm::TargetPassConfig* config = llvm_machine.createPassConfig(passes);
  config->disablePass(&llvm::MachineSchedulerID);
  config->disablePass(&llvm::PostRASchedulerID);
  passes.add(config);
  passes.add(info);
  config->addISelPasses();
  config->addMachinePasses();
  config->setInitialized();
  llvm_machine.addAsmPrinter(passes, stream, nullptr, type, info->getMMI().getContext());
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  module.getContext().setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
  if (problem) return Error{"LLVM: " + *problem};
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace bayloom::codegen
