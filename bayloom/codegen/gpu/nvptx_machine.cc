// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/nvptx_machine.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

#include "bayloom/codegen/abi.h"

namespace bayloom::codegen {
namespace {

enum AddressSpace : unsigned { kGlobalMemory = 1, kSharedMemory = 3 };

constexpr const char* kSharedName = "bayloom_shared";

void Annotate(llvm::Function& function, const char* key, int value) {
  llvm::LLVMContext& context = function.getContext();
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Metadata* operands[] = {
      llvm::ValueAsMetadata::get(&function), llvm::MDString::get(context, key),
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, static_cast<uint64_t>(value)))};
  function.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, operands));
}

std::vector<llvm::Value*> Members(IrBuilder& b, llvm::Value* structure) {
  std::vector<llvm::Value*> members;
  for (unsigned i = 0; i < structure->getType()->getStructNumElements(); ++i) {
    members.push_back(b.CreateExtractValue(structure, i));
  }
  return members;
}

}  // namespace

llvm::Function* NvptxMachine::BeginKernel(llvm::Module& module, const std::string& symbol,
                                          const KernelShape& shape) {
  llvm::LLVMContext& context = module.getContext();
  const std::vector<llvm::Type*> arguments(static_cast<size_t>(shape.pointers),
                                           llvm::PointerType::get(context, kGlobalMemory));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), arguments, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  shape_ = shape;
  for (llvm::Argument& argument : function_->args()) {
    argument.addAttr(llvm::Attribute::getWithAlignment(
        context, llvm::Align(static_cast<uint64_t>(target::kBufferAlignment))));
  }
  Annotate(*function_, "kernel", 1);
  Annotate(*function_, "maxntidx", shape.threads);
  return function_;
}

llvm::Value* NvptxMachine::Pointer(IrBuilder&, int index) {
  return function_->getArg(static_cast<unsigned>(index));
}

llvm::Value* NvptxMachine::SharedMemory(IrBuilder& b) {
  llvm::Module& module = *function_->getParent();
  if (llvm::GlobalVariable* known = module.getNamedGlobal(kSharedName)) return known;
  auto* shared =
      new llvm::GlobalVariable(module, llvm::ArrayType::get(b.getInt8Ty(), 0), /*isConstant=*/false,
                               llvm::GlobalValue::ExternalLinkage, nullptr, kSharedName, nullptr,
                               llvm::GlobalValue::NotThreadLocal, kSharedMemory);
  shared->setAlignment(llvm::Align(static_cast<uint64_t>(target::kPanelAlignment)));
  return shared;
}

llvm::Value* NvptxMachine::SpecialRegister(IrBuilder& b, unsigned intrinsic, uint64_t count) {
  llvm::CallInst* value = b.CreateIntrinsic(static_cast<llvm::Intrinsic::ID>(intrinsic), {}, {});
  value->setMetadata(
      llvm::LLVMContext::MD_range,
      llvm::MDBuilder(b.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, count)));
  return value;
}

llvm::Value* NvptxMachine::BlockIndex(IrBuilder& b) {
  return SpecialRegister(b, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, 0x7fffffff);
}

llvm::Value* NvptxMachine::ThreadIndex(IrBuilder& b) {
  return SpecialRegister(b, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x,
                         static_cast<uint64_t>(shape_.threads));
}

void NvptxMachine::Barrier(IrBuilder& b) {
  b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
}

/// Whole lines of 16 bytes pass by the first-level cache.
void NvptxMachine::CopyAsync(IrBuilder& b, const Place& to, const Place& from, int bytes,
                             llvm::Value* exists) {
  namespace intrinsic = llvm::Intrinsic;
  llvm::Intrinsic::ID whole = intrinsic::nvvm_cp_async_cg_shared_global_16;
  llvm::Intrinsic::ID part = intrinsic::nvvm_cp_async_cg_shared_global_16_s;
  if (bytes == 8) {
    whole = intrinsic::nvvm_cp_async_ca_shared_global_8;
    part = intrinsic::nvvm_cp_async_ca_shared_global_8_s;
  } else if (bytes == 4) {
    whole = intrinsic::nvvm_cp_async_ca_shared_global_4;
    part = intrinsic::nvvm_cp_async_ca_shared_global_4_s;
  }
  if (exists == nullptr) {
    b.CreateIntrinsic(whole, {}, {to.pointer, from.pointer});
    return;
  }
  llvm::Value* size =
      b.CreateSelect(exists, b.getInt32(static_cast<uint32_t>(bytes)), b.getInt32(0));
  b.CreateIntrinsic(part, {}, {to.pointer, from.pointer, size});
}

void NvptxMachine::CommitCopies(IrBuilder& b) {
  b.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
}

void NvptxMachine::WaitForCopies(IrBuilder& b, int groups) {
  b.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {},
                    {b.getInt32(static_cast<uint32_t>(groups))});
}

std::vector<llvm::Value*> NvptxMachine::LoadMatrices(IrBuilder& b, const Place& row, int count,
                                                     bool transposed) {
  namespace intrinsic = llvm::Intrinsic;
  const llvm::Intrinsic::ID two = transposed
                                      ? intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                                      : intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
  const llvm::Intrinsic::ID four = transposed
                                       ? intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                       : intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
  llvm::Value* loaded =
      b.CreateIntrinsic(count == 2 ? two : four, {row.pointer->getType()}, {row.pointer});
  return Members(b, loaded);
}

std::vector<llvm::Value*> NvptxMachine::Multiply(IrBuilder& b,
                                                 const target::MmaInstruction& instruction,
                                                 const std::vector<llvm::Value*>& rows,
                                                 const std::vector<llvm::Value*>& columns,
                                                 const std::vector<llvm::Value*>& sums) {
  namespace intrinsic = llvm::Intrinsic;
  const bool is_half = instruction.type == "float16";
  const llvm::Intrinsic::ID multiply = is_half ? intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32
                                       : instruction.type == "tf32"
                                           ? intrinsic::nvvm_mma_m16n8k8_row_col_tf32
                                           : intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
  std::vector<llvm::Value*> arguments;
  for (const std::vector<llvm::Value*>* factor : {&rows, &columns}) {
    for (llvm::Value* part : *factor) {
      llvm::Type* halves = llvm::FixedVectorType::get(b.getHalfTy(), 2);
      arguments.push_back(is_half ? b.CreateBitCast(part, halves) : part);
    }
  }
  arguments.insert(arguments.end(), sums.begin(), sums.end());
  return Members(b, b.CreateIntrinsic(multiply, {}, arguments));
}

llvm::Value* NvptxMachine::ShuffleBits(IrBuilder& b, llvm::Value* bits, int lanes) {
  constexpr uint32_t kAllThreads = 0xffffffff, kWholeWarp = 31;
  return b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                           {b.getInt32(kAllThreads), bits, b.getInt32(static_cast<uint32_t>(lanes)),
                            b.getInt32(kWholeWarp)});
}

}  // namespace bayloom::codegen
