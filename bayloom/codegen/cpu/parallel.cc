// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <llvm/IR/Module.h>

#include <algorithm>

#include "bayloom/codegen/cpu/nest.h"
#include "bayloom/codegen/ir/loop_body.h"

namespace bayloom::codegen {

std::vector<llvm::Value*> NestEmitter::RunningValues() const {
  std::vector<llvm::Value*> values;
  for (tensor::DigitId digit = 0; digit < digits_.size(); ++digit) {
    llvm::Value* base = digits_[digit].base;
    if (base && std::ranges::count(values, base) == 0) values.push_back(base);
  }
  return values;
}

/// The body becomes a function of its own, called by the runtime's threads.
void NestEmitter::EmitParallel(tensor::LoopId loop) {
  const std::vector<llvm::Value*> running = RunningValues();
  llvm::Function* function = DeclareLoopBody(
      module_.module, module_.symbol + ".parallel" + std::to_string(module_.parallel_loops++),
      llvm::GlobalValue::InternalLinkage);
  IrBuilder body(llvm::BasicBlock::Create(builder_.getContext(), "entry", function));
  llvm::Value* context = function->getArg(0);
  const MemoryEmitter::Arguments arguments = LoadArguments(body, function, plan_.memory);
  Digits outer = digits_;
  for (size_t i = 0; i < running.size(); ++i) {
    const auto slot = static_cast<int64_t>(kFirstValueSlot + i);
    llvm::Value* value = body.CreateLoad(body.getInt64Ty(), ContextSlot(body, context, slot));
    for (tensor::DigitId digit = 0; digit < outer.size(); ++digit) {
      if (digits_[digit].base == running[i]) outer[digit].base = value;
    }
  }
  NestEmitter nest(module_, function, &function->getEntryBlock().back(), arguments);
  nest.EmitIterations(loop, outer, function->getArg(1), function->getArg(2));
  nest.Finish();

  const int64_t slots = kFirstValueSlot + static_cast<int64_t>(running.size());
  llvm::Value* frame = addresses_.AtEntry([&] {
    return builder_.CreateAlloca(builder_.getInt64Ty(),
                                 builder_.getInt64(static_cast<uint64_t>(slots)));
  });
  builder_.CreateStore(arguments_.parameters, ContextSlot(builder_, frame, kParameterSlot));
  builder_.CreateStore(arguments_.workspace, ContextSlot(builder_, frame, kWorkspaceSlot));
  for (size_t i = 0; i < running.size(); ++i) {
    const auto slot = static_cast<int64_t>(kFirstValueSlot + i);
    builder_.CreateStore(running[i], ContextSlot(builder_, frame, slot));
  }
  llvm::Value* extent = builder_.getInt64(static_cast<uint64_t>(program_.ExtentOf(loop)));
  builder_.CreateCall(DeclareParallelFor(module_.module), {extent, function, frame});
  memory_.ForgetLoads();
}

void NestEmitter::EmitIterations(tensor::LoopId loop, const Digits& outer, llvm::Value* begin,
                                 llvm::Value* end) {
  digits_ = outer;
  for (llvm::Value* value : RunningValues()) addresses_.DefineAtEntry(value);
  EmitLoop(begin, end, [&](llvm::PHINode* position) {
    const std::vector<llvm::Value*> values =
        loops_.DefineDigits(program_.loops[loop].digits, position);
    addresses_.Define(values, &builder_.GetInsertBlock()->back(), loops_.depth());
    EmitBody(tensor::NodeRef::Loop(loop));
  });
}

}  // namespace bayloom::codegen
