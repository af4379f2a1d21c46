// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/internal/gpu/stand_in_machine.h"

#include <cstddef>

namespace bayloom::codegen {
namespace {

enum StandInArgument : unsigned {
  kPointersArgument,
  kSharedArgument,
  kContextArgument,
  kThreadArgument,
  kBlockArgument
};

}  // namespace

llvm::Function* StandInMachine::BeginKernel(llvm::Module& module, const std::string& symbol,
                                            const KernelShape&) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer, pointer, i32, i32}, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  return function_;
}

llvm::Value* StandInMachine::Pointer(IrBuilder& b, int index) {
  const auto offset = static_cast<uint64_t>(index) * sizeof(void*);
  return b.CreateLoad(b.getPtrTy(),
                      b.CreatePtrAdd(function_->getArg(kPointersArgument), b.getInt64(offset)));
}

llvm::Value* StandInMachine::SharedMemory(IrBuilder&) { return function_->getArg(kSharedArgument); }
llvm::Value* StandInMachine::BlockIndex(IrBuilder&) { return function_->getArg(kBlockArgument); }
llvm::Value* StandInMachine::ThreadIndex(IrBuilder&) { return function_->getArg(kThreadArgument); }

void StandInMachine::Barrier(IrBuilder& b) {
  Call(b, offsetof(StandInCalls, barrier), b.getVoidTy(), {});
}

llvm::Value* StandInMachine::ShuffleBits(IrBuilder& b, llvm::Value* bits, int lanes) {
  return Call(b, offsetof(StandInCalls, shuffle), b.getInt32Ty(),
              {bits, b.getInt32(static_cast<uint32_t>(lanes))});
}

void StandInMachine::BeforeAccess(IrBuilder& b, int buffer, llvm::Value* pointer, int64_t bytes,
                                  llvm::Value* guard, bool is_write) {
  llvm::Value* size = b.getInt32(static_cast<uint32_t>(bytes));
  if (guard) size = b.CreateSelect(guard, size, b.getInt32(0));
  Call(b, offsetof(StandInCalls, access), b.getVoidTy(),
       {b.getInt32(static_cast<uint32_t>(buffer)), pointer, size, b.getInt32(is_write)});
}

llvm::Value* StandInMachine::Call(IrBuilder& b, size_t member, llvm::Type* result,
                                  const std::vector<llvm::Value*>& arguments) {
  llvm::Value* context = function_->getArg(kContextArgument);
  std::vector<llvm::Value*> all = {context};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : all) types.push_back(argument->getType());
  llvm::Value* function = b.CreateLoad(b.getPtrTy(), b.CreatePtrAdd(context, b.getInt64(member)));
  return b.CreateCall(llvm::FunctionType::get(result, types, false), function, all);
}

}  // namespace bayloom::codegen
