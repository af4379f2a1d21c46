// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/ir/loop_body.h"

#include <llvm/IR/Module.h>

namespace bayloom::codegen {

llvm::Value* ContextSlot(IrBuilder& b, llvm::Value* context, int64_t slot) {
  return b.CreatePtrAdd(context, b.getInt64(static_cast<uint64_t>(8 * slot)));
}

llvm::Function* DeclareLoopBody(llvm::Module& module, const std::string& name,
                                llvm::GlobalValue::LinkageTypes linkage) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, i64, i64, llvm::Type::getInt32Ty(context)}, false);
  return llvm::Function::Create(type, linkage, name, module);
}

MemoryEmitter::Arguments LoadArguments(IrBuilder& b, llvm::Function* body,
                                       const plan::MemoryPlan& memory) {
  llvm::Value* context = body->getArg(0);
  MemoryEmitter::Arguments arguments{};
  arguments.parameters = b.CreateLoad(b.getPtrTy(), ContextSlot(b, context, kParameterSlot));
  arguments.workspace = b.CreateLoad(b.getPtrTy(), ContextSlot(b, context, kWorkspaceSlot));
  llvm::Value* worker = b.CreateZExt(body->getArg(3), b.getInt64Ty());
  llvm::Value* offset = b.CreateMul(worker, b.getInt64(static_cast<uint64_t>(memory.worker_bytes)));
  offset = b.CreateAdd(offset, b.getInt64(static_cast<uint64_t>(memory.shared_bytes)));
  arguments.worker_workspace = b.CreatePtrAdd(arguments.workspace, offset);
  return arguments;
}

llvm::FunctionCallee DeclareParallelFor(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  return module.getOrInsertFunction("bayloom_parallel_for", llvm::Type::getVoidTy(context),
                                    llvm::Type::getInt64Ty(context), pointer, pointer);
}

}  // namespace bayloom::codegen
