// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/call.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "bayloom/codegen/library.h"

namespace bayloom::codegen {
namespace {

// Types and reductions go to the runtime by their numbers.
static_assert(static_cast<int>(tensor::DType::kBool) == BAYLOOM_BOOL &&
              static_cast<int>(tensor::DType::kInt64) == BAYLOOM_INT64 &&
              static_cast<int>(tensor::DType::kUInt64) == BAYLOOM_UINT64 &&
              static_cast<int>(tensor::DType::kFloat64) == BAYLOOM_FLOAT64);
static_assert(static_cast<int>(tensor::Reduction::kNone) == BAYLOOM_REPLACE &&
              static_cast<int>(tensor::Reduction::kSum) == BAYLOOM_ADD &&
              static_cast<int>(tensor::Reduction::kProduct) == BAYLOOM_MULTIPLY &&
              static_cast<int>(tensor::Reduction::kMin) == BAYLOOM_MINIMUM &&
              static_cast<int>(tensor::Reduction::kMax) == BAYLOOM_MAXIMUM);

/// As the kernels take them: the first operand's type before the call's own.
std::vector<uint64_t> NumbersOf(const tensor::Program& program, const tensor::LibraryCall& call) {
  std::vector<uint64_t> numbers = {static_cast<uint64_t>(program.buffers[call.operands[0]].dtype)};
  for (const int64_t number : call.numbers) numbers.push_back(static_cast<uint64_t>(number));
  return numbers;
}

llvm::Value* NumbersInMemory(llvm::Module& module, const std::vector<uint64_t>& numbers) {
  llvm::Constant* data = llvm::ConstantDataArray::get(module.getContext(), numbers);
  auto* global = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, data, "numbers");
  global->setAlignment(llvm::Align(8));
  return global;
}

}  // namespace

bayloom_kernel_memory MemoryOfCall(const tensor::Program& program,
                                   const tensor::LibraryCall& call) {
  const std::vector<uint64_t> numbers = NumbersOf(program, call);
  const auto* signed_numbers = reinterpret_cast<const int64_t*>(numbers.data());
  switch (call.kernel) {
    case tensor::LibraryKernel::kTopK:
      return bayloom_topk_memory(signed_numbers);
    case tensor::LibraryKernel::kScatterRows:
      return bayloom_scatter_rows_memory(signed_numbers);
    case tensor::LibraryKernel::kUnique:
      return bayloom_unique_memory(signed_numbers);
    case tensor::LibraryKernel::kNonMaxSuppression:
      return bayloom_nms_memory(signed_numbers);
    default:
      return {0, 0};
  }
}

void EmitCall(const tensor::Program& program, const tensor::LibraryCall& call,
              llvm::Function& function) {
  llvm::Module& module = *function.getParent();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", &function));
  std::vector<tensor::BufferId> tensors = call.operands;
  tensors.push_back(program.blocks[program.roots[0].id].output);
  llvm::Value* pointers =
      builder.CreateAlloca(builder.getPtrTy(), builder.getInt64(tensors.size()));
  const std::vector<tensor::BufferId> parameters = program.Parameters();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto at =
        static_cast<uint64_t>(std::ranges::find(parameters, tensors[i]) - parameters.begin());
    llvm::Value* pointer = builder.CreateLoad(
        builder.getPtrTy(), builder.CreateConstGEP1_64(builder.getPtrTy(), function.getArg(0), at));
    builder.CreateStore(pointer, builder.CreateConstGEP1_64(builder.getPtrTy(), pointers, i));
  }
  llvm::Type* pointer = builder.getPtrTy();
  const llvm::FunctionCallee kernel = module.getOrInsertFunction(
      std::string(KernelOf(call.kernel).symbol), builder.getVoidTy(), pointer, pointer, pointer);
  builder.CreateCall(
      kernel, {pointers, NumbersInMemory(module, NumbersOf(program, call)), function.getArg(1)});
  builder.CreateRetVoid();
}

}  // namespace bayloom::codegen
