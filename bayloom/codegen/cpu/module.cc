// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/module.h"

#include "bayloom/codegen/cpu/call.h"
#include "bayloom/codegen/cpu/nest.h"
#include "bayloom/codegen/cpu/steps.h"
#include "bayloom/codegen/ir/loop_body.h"
#include "bayloom/codegen/ir/math.h"

namespace bayloom::codegen {
namespace {

/// An empty kernel.
llvm::Function* CreateKernel(llvm::Module& module, const std::string& symbol) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer}, false);
  return llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
}

/// What accesses of the program's buffers may touch.
AliasScopes ScopesOf(llvm::LLVMContext& context, const tensor::Program& program,
                     const plan::CpuPlan& plan) {
  AliasScopes scopes(context, program.buffers.size());
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    const tensor::BufferId output = plan.memory.buffers[id].kept_in;
    if (output >= 0) scopes.Join(static_cast<tensor::BufferId>(id), output);
  }
  return scopes;
}

std::vector<llvm::Value*> LoadSizes(IrBuilder& b, const tensor::Program& program,
                                    const plan::CpuPlan& plan, llvm::Function& kernel) {
  std::vector<llvm::Value*> sizes;
  for (int size = 0; size < program.SizeCount(); ++size) {
    llvm::Value* place =
        ContextSlot(b, kernel.getArg(0), plan.memory.buffers[static_cast<size_t>(size)].position);
    sizes.push_back(b.CreateLoad(b.getInt64Ty(), b.CreateLoad(b.getPtrTy(), place)));
  }
  return sizes;
}

}  // namespace

std::unique_ptr<llvm::Module> EmitModule(llvm::LLVMContext& context, const tensor::Program& program,
                                         const plan::CpuPlan& plan, const std::string& symbol) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  llvm::Function* const function = CreateKernel(*module, symbol);
  if (const auto call = tensor::AsCall(program)) {
    EmitCall(program, *call, *function);
    return module;
  }
  if (plan.scales_by_powers) AllowScalingByPowers(*module);
  const AliasScopes scopes = ScopesOf(context, program, plan);
  ModuleState state{program, plan, *module, scopes, symbol};
  IrBuilder entry(llvm::BasicBlock::Create(context, "entry", function));
  const std::vector<llvm::Value*> sizes = LoadSizes(entry, program, plan, *function);
  // What is hoisted to the entry goes after this.
  llvm::Instruction* anchor = entry.CreateAlloca(entry.getInt8Ty());
  NestEmitter nest(state, function, anchor, {function->getArg(0), function->getArg(1), nullptr});
  nest.DefineSizes(sizes);
  nest.EmitBody(tensor::NodeRef::Root());
  nest.Finish();
  anchor->eraseFromParent();
  return module;
}

std::unique_ptr<llvm::Module> EmitModuleOfSteps(llvm::LLVMContext& context,
                                                const tensor::Program& program,
                                                const plan::CpuPlan& plan,
                                                const std::string& symbol,
                                                std::vector<KernelStep>& steps) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  llvm::Function* const function = CreateKernel(*module, symbol);
  if (plan.scales_by_powers) AllowScalingByPowers(*module);
  const AliasScopes scopes = ScopesOf(context, program, plan);
  ModuleState state{program, plan, *module, scopes, symbol};
  steps = EmitSteps(state, *function);
  return module;
}

}  // namespace bayloom::codegen
