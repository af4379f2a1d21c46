// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/probe.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <vector>

#include "bayloom/codegen/cpu/dot_product.h"
#include "bayloom/codegen/object.h"

namespace bayloom::codegen {
namespace {

/// Enough for the latency of up to six units; registers remain for the operands.
constexpr int kFewAccumulators = 12, kManyAccumulators = 24;
constexpr int kReadsAtOnce = 8;
constexpr int kChain = 8;
static_assert(kProbeOperations % kManyAccumulators == 0 && kProbeOperations % kReadsAtOnce == 0 &&
              kProbeOperations % kChain == 0 && kManyAccumulators % kFewAccumulators == 0);

/// Emits one loop whose state is a set of vector accumulators.
class ProbeEmitter {
 public:
  ProbeEmitter(Probe probe, const target::Target& target, llvm::Function& function)
      : probe_(probe),
        vector_bytes_(target.vector_bytes),
        builder_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)),
        function_(function) {
    const bool few_registers = target::VectorRegisters(target) < 32;
    accumulators_ = probe == Probe::kRead               ? kReadsAtOnce
                    : probe == Probe::kMultiplyAddChain ? 1
                    : few_registers                     ? kFewAccumulators
                                                        : kManyAccumulators;
    operations_ = probe == Probe::kMultiplyAddChain ? kChain : accumulators_;
  }
  /// Of a dot product instead of a multiply-add.
  ProbeEmitter(const target::DotInstruction& instruction, const target::Target& target,
               llvm::Function& function)
      : ProbeEmitter(Probe::kMultiplyAdd, target, function) {
    dot_ = &instruction;
  }

  void Emit() {
    llvm::LLVMContext& context = function_.getContext();
    llvm::Value* memory = Parameter(0);
    llvm::Value* arguments = Parameter(1);
    llvm::Value* result = Parameter(2);
    llvm::Value* count = builder_.CreateLoad(builder_.getInt64Ty(), arguments);
    llvm::Value* mask_place =
        builder_.CreateConstGEP1_64(builder_.getInt8Ty(), arguments, sizeof(int64_t));
    llvm::Value* mask = builder_.CreateLoad(builder_.getInt64Ty(), mask_place);
    llvm::BasicBlock* entry = builder_.GetInsertBlock();
    auto* loop = llvm::BasicBlock::Create(context, "loop", &function_);
    auto* exit = llvm::BasicBlock::Create(context, "exit", &function_);
    builder_.CreateBr(loop);

    builder_.SetInsertPoint(loop);
    llvm::PHINode* done = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    done->addIncoming(builder_.getInt64(0), entry);
    std::vector<llvm::PHINode*> states;
    for (int i = 0; i < accumulators_; ++i) {
      states.push_back(builder_.CreatePHI(StateType(), 2));
      states.back()->addIncoming(Start(), entry);
    }
    llvm::Value* place = probe_ == Probe::kRead ? ReadPlace(memory, done, mask) : nullptr;
    std::vector<llvm::Value*> ends;
    for (int i = 0; i < accumulators_; ++i) {
      ends.push_back(Next(states[i], place, i));
      states[i]->addIncoming(ends.back(), loop);
    }
    llvm::Value* more = builder_.CreateAdd(done, builder_.getInt64(operations_));
    done->addIncoming(more, loop);
    builder_.CreateCondBr(builder_.CreateICmpSLT(more, count), loop, exit);

    builder_.SetInsertPoint(exit);
    llvm::Value* total = ends[0];
    for (int i = 1; i < accumulators_; ++i) total = Fold(total, ends[i]);
    builder_.CreateAlignedStore(total, result, llvm::Align(4));
    builder_.CreateRetVoid();
  }

 private:
  llvm::Value* Parameter(int i) {
    llvm::Value* place = builder_.CreateConstGEP1_64(builder_.getPtrTy(), function_.getArg(0), i);
    return builder_.CreateLoad(builder_.getPtrTy(), place);
  }

  llvm::Type* StateType() {
    llvm::Type* element =
        IsInteger() ? static_cast<llvm::Type*>(builder_.getInt32Ty()) : builder_.getFloatTy();
    return llvm::FixedVectorType::get(element, vector_bytes_ / 4);
  }

  bool IsInteger() const { return probe_ == Probe::kRead || (dot_ && dot_->sum == "int32"); }

  llvm::Constant* Splat(double value) { return llvm::ConstantFP::get(StateType(), value); }
  llvm::Constant* Start() {
    return IsInteger() ? llvm::Constant::getNullValue(StateType()) : Splat(1);
  }

  llvm::Value* ReadPlace(llvm::Value* memory, llvm::Value* done, llvm::Value* mask) {
    llvm::Value* bytes = builder_.CreateMul(done, builder_.getInt64(vector_bytes_));
    return builder_.CreateGEP(builder_.getInt8Ty(), memory, builder_.CreateAnd(bytes, mask));
  }

  llvm::Value* Next(llvm::Value* state, llvm::Value* place, int i) {
    switch (probe_) {
      case Probe::kMultiplyAdd:
        return MultiplyAdd(state);
      case Probe::kMultiplyAddChain:
        for (int link = 0; link < kChain; ++link) state = MultiplyAdd(state);
        return state;
      case Probe::kDivision:
        return builder_.CreateFDiv(Splat(0.999), state);
      case Probe::kRead: {
        llvm::Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), place,
                                                      static_cast<uint64_t>(i) * vector_bytes_);
        return builder_.CreateXor(
            state, builder_.CreateAlignedLoad(StateType(), at, llvm::Align(vector_bytes_)));
      }
    }
    return state;
  }

  llvm::Value* MultiplyAdd(llvm::Value* state) {
    if (dot_) return AddDot(state);
    return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {StateType()},
                                    {state, Splat(0.999), Splat(1e-3)});
  }

  /// Integers multiply their sums: products of constants would not be computed in the loop, where
  /// they are instructions of their own.
  llvm::Value* AddDot(llvm::Value* state) {
    constexpr uint32_t kSmallNumbers = 0x3c013c01;  // of any type
    llvm::Value* numbers = llvm::ConstantInt::get(
        llvm::FixedVectorType::get(builder_.getInt32Ty(), vector_bytes_ / 4), kSmallNumbers);
    const PackedFactor a{IsInteger() ? state : numbers, *tensor::ParseDType(dot_->a)};
    const PackedFactor b{numbers, *tensor::ParseDType(dot_->b)};
    return EmitDot(builder_, {dot_, target::DotOperands::kAsTheyAre}, a, b, state);
  }

  llvm::Value* Fold(llvm::Value* a, llvm::Value* b) {
    return IsInteger() ? builder_.CreateXor(a, b) : builder_.CreateFAdd(a, b);
  }

  const Probe probe_;
  const target::DotInstruction* dot_ = nullptr;
  const int vector_bytes_;
  llvm::IRBuilder<> builder_;
  llvm::Function& function_;
  int accumulators_ = 0;  ///< values that the loop carries
  int operations_ = 0;    ///< of one iteration
};

/// A function of a kernel's type with this body.
Result<KernelObject> CompileBody(const std::function<void(llvm::Function&)>& emit,
                                 const target::Target& target, const std::string& symbol) {
  Result<llvm::TargetMachine*> machine = TargetMachineFor(target);
  if (!machine) return machine.error();
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  emit(*function);
  Optimize(module, **machine, target);
  KernelObject kernel;
  kernel.symbol = symbol;
  Result<std::string> object =
      EmitMachineCode(module, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object) return object.error();
  kernel.object = *std::move(object);
  return kernel;
}

}  // namespace

Result<KernelObject> CompileProbe(Probe probe, const target::Target& target,
                                  const std::string& symbol) {
  return CompileBody(
      [&](llvm::Function& function) { ProbeEmitter(probe, target, function).Emit(); }, target,
      symbol);
}

Result<KernelObject> CompileDotProbe(const target::DotInstruction& instruction,
                                     const target::Target& target, const std::string& symbol) {
  return CompileBody(
      [&](llvm::Function& function) { ProbeEmitter(instruction, target, function).Emit(); }, target,
      symbol);
}

}  // namespace bayloom::codegen
