// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>

#include "bayloom/codegen/cpu/nest.h"
#include "bayloom/codegen/ir/loop_body.h"

namespace bayloom::codegen {

std::vector<llvm::Value*> NestEmitter::RunningValues() const {
  std::vector<llvm::Value*> values;
  for (tensor::DigitId digit = 0; digit < nest_.digits.size(); ++digit) {
    llvm::Value* base = nest_.digits[digit].base;
    if (base && std::ranges::count(values, base) == 0) values.push_back(base);
  }
  return values;
}

/// The body becomes a function of its own, called by the runtime's threads.
void NestEmitter::EmitParallel(tensor::LoopId loop) {
  const std::vector<llvm::Value*> running = RunningValues();
  llvm::Function* function = DeclareLoopBody(
      nest_.module.module,
      nest_.module.symbol + ".parallel" + std::to_string(nest_.module.parallel_loops++),
      llvm::GlobalValue::InternalLinkage);
  IrBuilder body(llvm::BasicBlock::Create(nest_.builder.getContext(), "entry", function));
  llvm::Value* context = function->getArg(0);
  const MemoryEmitter::Arguments arguments = LoadArguments(body, function, nest_.plan.memory);
  Digits outer = nest_.digits;
  for (size_t i = 0; i < running.size(); ++i) {
    const auto slot = static_cast<int64_t>(kFirstValueSlot + i);
    llvm::Value* value = body.CreateLoad(body.getInt64Ty(), ContextSlot(body, context, slot));
    for (tensor::DigitId digit = 0; digit < outer.size(); ++digit) {
      if (nest_.digits[digit].base == running[i]) outer[digit].base = value;
    }
  }
  NestEmitter nest(nest_.module, function, &function->getEntryBlock().back(), arguments);
  nest.EmitIterations(loop, outer, function->getArg(1), function->getArg(2));
  nest.Finish();

  const int64_t slots = kFirstValueSlot + static_cast<int64_t>(running.size());
  llvm::Value* frame = nest_.addresses.AtEntry([&] {
    return nest_.builder.CreateAlloca(nest_.builder.getInt64Ty(),
                                      nest_.builder.getInt64(static_cast<uint64_t>(slots)));
  });
  nest_.builder.CreateStore(nest_.arguments.parameters,
                            ContextSlot(nest_.builder, frame, kParameterSlot));
  nest_.builder.CreateStore(nest_.arguments.workspace,
                            ContextSlot(nest_.builder, frame, kWorkspaceSlot));
  for (size_t i = 0; i < running.size(); ++i) {
    const auto slot = static_cast<int64_t>(kFirstValueSlot + i);
    nest_.builder.CreateStore(running[i], ContextSlot(nest_.builder, frame, slot));
  }
  llvm::Value* extent = nest_.builder.getInt64(1);
  for (tensor::DigitId digit : nest_.program.loops[loop].digits) {
    const int64_t steps = nest_.program.digit_extents[digit];
    extent = nest_.builder.CreateMul(extent, nest_.TripsOf(digit, steps, 1));
  }
  nest_.builder.CreateCall(DeclareParallelFor(nest_.module.module), {extent, function, frame});
  nest_.memory.ForgetLoads();
}

void NestEmitter::EmitIterations(tensor::LoopId loop, const Digits& outer, llvm::Value* begin,
                                 llvm::Value* end) {
  nest_.digits = outer;
  for (llvm::Value* value : RunningValues()) nest_.addresses.DefineAtEntry(value);
  const std::vector<tensor::DigitId>& digits = nest_.program.loops[loop].digits;
  std::map<tensor::DigitId, llvm::Value*> trips;
  for (tensor::DigitId digit : digits) {
    const int64_t steps = nest_.program.digit_extents[digit];
    if (nest_.plan.open.contains(digit)) trips[digit] = nest_.TripsOf(digit, steps, 1);
  }
  nest_.loops.EmitLoop(begin, end, [&](llvm::PHINode* position) {
    const std::vector<llvm::Value*> values = nest_.loops.DefineDigits(digits, position, trips);
    nest_.addresses.Define(values, &nest_.builder.GetInsertBlock()->back(), nest_.loops.depth());
    // Of several digits of one loop each ends as if the others were zero.
    if (trips.size() == 1) nest_.NoteWithin(trips.begin()->first);
    EmitBody(tensor::NodeRef::Loop(loop));
  });
}

}  // namespace bayloom::codegen
