// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/steps.h"

#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <stdexcept>

#include "bayloom/codegen/ir/loop_body.h"
#include "bayloom/codegen/kernel_steps.h"

namespace bayloom::codegen {
namespace {

/// Without the nests that are computed within others, and without steps of which nothing is left.
std::vector<NestStep> StepsToEmit(const ModuleState& module) {
  std::optional<std::vector<NestStep>> steps = StepsOf(module.program);
  if (!steps) throw std::logic_error("a program that has no steps");
  for (NestStep& step : *steps) {
    std::erase_if(step.nests, [&](tensor::NodeRef nest) {
      return nest.is_block() ? module.plan.absorbed.contains(nest.id)
                             : module.plan.absorbed_loops.contains(nest.id);
    });
  }
  std::erase_if(*steps, [](const NestStep& step) { return step.nests.empty(); });
  return *std::move(steps);
}

/// The function that runs iterations of a step.
void EmitStep(ModuleState& module, const NestStep& step, const std::string& symbol) {
  llvm::Function* const body =
      DeclareLoopBody(module.module, symbol, llvm::GlobalValue::ExternalLinkage);
  IrBuilder entry(llvm::BasicBlock::Create(module.module.getContext(), "entry", body));
  MemoryEmitter::Arguments arguments = LoadArguments(entry, body, module.plan.memory);
  if (!step.is_parallel) arguments.worker_workspace = nullptr;
  NestEmitter nest(module, body, &body->getEntryBlock().back(), arguments);
  if (step.is_parallel) {
    nest.EmitIterations(step.nests.front().id, Digits(module.program), body->getArg(1),
                        body->getArg(2));
  } else {
    for (const tensor::NodeRef part : step.nests) nest.EmitNode(part);
  }
  nest.Finish();
}

void EmitCalls(ModuleState& module, const std::vector<KernelStep>& steps, llvm::Function& kernel) {
  IrBuilder b(llvm::BasicBlock::Create(module.module.getContext(), "entry", &kernel));
  llvm::Value* context = b.CreateAlloca(b.getInt64Ty(), b.getInt64(kFirstValueSlot));
  b.CreateStore(kernel.getArg(0), ContextSlot(b, context, kParameterSlot));
  b.CreateStore(kernel.getArg(1), ContextSlot(b, context, kWorkspaceSlot));
  for (const KernelStep& step : steps) {
    b.CreateCall(DeclareParallelFor(module.module),
                 {b.getInt64(static_cast<uint64_t>(step.extent)),
                  module.module.getFunction(step.symbol), context});
  }
  b.CreateRetVoid();
}

}  // namespace

std::vector<KernelStep> EmitSteps(ModuleState& module, llvm::Function& kernel) {
  std::vector<KernelStep> steps;
  for (const NestStep& step : StepsToEmit(module)) {
    const int64_t extent = step.is_parallel ? module.program.ExtentOf(step.nests.front().id) : 1;
    steps.push_back({extent, fmt::format("{}_step{}", module.symbol, steps.size())});
    EmitStep(module, step, steps.back().symbol);
  }
  EmitCalls(module, steps, kernel);
  return steps;
}

}  // namespace bayloom::codegen
