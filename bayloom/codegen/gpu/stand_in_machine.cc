// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/stand_in_machine.h"

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

/// Where 32 bits number `index` begin.
llvm::Value* Word(IrBuilder& b, size_t index) { return b.getInt64(index * sizeof(uint32_t)); }

void StoreWords(IrBuilder& b, llvm::Value* to, const std::vector<llvm::Value*>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    b.CreateStore(words[i], b.CreatePtrAdd(to, Word(b, i)));
  }
}

std::vector<llvm::Value*> LoadFloats(IrBuilder& b, llvm::Value* from, size_t first, size_t count) {
  std::vector<llvm::Value*> floats;
  for (size_t i = first; i < first + count; ++i) {
    floats.push_back(b.CreateLoad(b.getFloatTy(), b.CreatePtrAdd(from, Word(b, i))));
  }
  return floats;
}

/// Of a type of elements.
llvm::Value* NumberOf(IrBuilder& b, std::string_view type) {
  return b.getInt32(static_cast<uint32_t>(*tensor::ParseDType(type)));
}

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

void StandInMachine::CopyAsync(IrBuilder& b, const Place& to, const Place& from, int bytes,
                               llvm::Value* exists) {
  llvm::Value* size = b.getInt32(static_cast<uint32_t>(bytes));
  llvm::Value* valid = exists ? b.CreateSelect(exists, size, b.getInt32(0)) : size;
  Call(b, offsetof(StandInCalls, copy), b.getVoidTy(),
       {b.getInt32(static_cast<uint32_t>(to.buffer)), to.pointer,
        b.getInt32(static_cast<uint32_t>(from.buffer)), from.pointer, size, valid});
}

void StandInMachine::CommitCopies(IrBuilder& b) {
  Call(b, offsetof(StandInCalls, commit), b.getVoidTy(), {});
}

void StandInMachine::WaitForCopies(IrBuilder& b, int groups) {
  Call(b, offsetof(StandInCalls, wait), b.getVoidTy(), {b.getInt32(static_cast<uint32_t>(groups))});
}

llvm::Value* StandInMachine::Registers(IrBuilder& b, size_t count) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  IrBuilder at_entry(&entry, entry.begin());
  return at_entry.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), count));
}

std::vector<llvm::Value*> StandInMachine::LoadMatrices(IrBuilder& b, const Place& row, int count,
                                                       bool transposed) {
  llvm::Value* registers = Registers(b, static_cast<size_t>(count));
  Call(b, offsetof(StandInCalls, load_matrices), b.getVoidTy(),
       {b.getInt32(static_cast<uint32_t>(row.buffer)), row.pointer,
        b.getInt32(static_cast<uint32_t>(count)), b.getInt32(transposed), registers});
  std::vector<llvm::Value*> parts;
  for (int i = 0; i < count; ++i) {
    parts.push_back(b.CreateLoad(b.getInt32Ty(), b.CreatePtrAdd(registers, Word(b, parts.size()))));
  }
  return parts;
}

std::vector<llvm::Value*> StandInMachine::Multiply(IrBuilder& b,
                                                   const target::MmaInstruction& instruction,
                                                   const std::vector<llvm::Value*>& rows,
                                                   const std::vector<llvm::Value*>& columns,
                                                   const std::vector<llvm::Value*>& sums) {
  std::vector<llvm::Value*> all = rows;
  all.insert(all.end(), columns.begin(), columns.end());
  const size_t first_sum = all.size();
  all.insert(all.end(), sums.begin(), sums.end());
  llvm::Value* registers = Registers(b, all.size());
  StoreWords(b, registers, all);
  Call(b, offsetof(StandInCalls, multiply), b.getVoidTy(),
       {NumberOf(b, instruction.type), registers});
  return LoadFloats(b, registers, first_sum, sums.size());
}

std::vector<llvm::Value*> StandInMachine::MultiplyInGroup(
    IrBuilder& b, const target::WgmmaInstruction& instruction, const PanelPart& rows,
    const PanelPart& columns, const std::vector<llvm::Value*>& sums) {
  constexpr size_t kWords = sizeof(StandInPanelPart) / sizeof(uint32_t);
  llvm::Value* parts = Registers(b, 2 * kWords);
  size_t word = 0;
  for (const PanelPart* part : {&rows, &columns}) {
    b.CreateAlignedStore(part->first.pointer, b.CreatePtrAdd(parts, Word(b, word)),
                         llvm::Align(sizeof(uint32_t)));
    const size_t behind = word + offsetof(StandInPanelPart, buffer) / sizeof(uint32_t);
    StoreWords(
        b, b.CreatePtrAdd(parts, Word(b, behind)),
        {b.getInt32(static_cast<uint32_t>(part->first.buffer)),
         b.getInt32(static_cast<uint32_t>(part->panel_bytes)), b.getInt32(part->along_depth)});
    word += kWords;
  }
  llvm::Value* registers = Registers(b, sums.size());
  StoreWords(b, registers, sums);
  Call(b, offsetof(StandInCalls, multiply_in_group), b.getVoidTy(),
       {NumberOf(b, instruction.type), parts, b.getInt32(static_cast<uint32_t>(2 * sums.size())),
        registers});
  return LoadFloats(b, registers, 0, sums.size());
}

/// The sums are known already, but what is multiplied counts as being read until here.
std::vector<llvm::Value*> StandInMachine::WaitForGroup(IrBuilder& b,
                                                       const std::vector<llvm::Value*>& sums) {
  Call(b, offsetof(StandInCalls, wait_for_group), b.getVoidTy(), {});
  return sums;
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
