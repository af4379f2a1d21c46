// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/IR/InlineAsm.h>

#include "bayloom/codegen/gpu/nvptx_machine.h"

namespace bayloom::codegen {
namespace {

void EmitAssembly(IrBuilder& b, const std::string& text) {
  auto* type = llvm::FunctionType::get(b.getVoidTy(), false);
  b.CreateCall(llvm::InlineAsm::get(type, text, "~{memory}", /*hasSideEffects=*/true), {});
}

/// Assembly that changes floats where they are, $0 and following, and reads i64, those behind them.
std::vector<llvm::Value*> EmitAssembly(IrBuilder& b, const std::string& text,
                                       const std::vector<llvm::Value*>& floats,
                                       const std::vector<llvm::Value*>& others) {
  const std::vector<llvm::Type*> results(floats.size(), b.getFloatTy());
  std::vector<llvm::Value*> arguments = others;
  std::string constraints;
  for (size_t i = 0; i < floats.size(); ++i) constraints += "=f,";
  for (size_t i = 0; i < others.size(); ++i) constraints += "l,";
  for (size_t i = 0; i < floats.size(); ++i) constraints += fmt::format("{},", i);
  arguments.insert(arguments.end(), floats.begin(), floats.end());
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto* type =
      llvm::FunctionType::get(llvm::StructType::get(b.getContext(), results), types, false);
  llvm::Value* changed =
      b.CreateCall(llvm::InlineAsm::get(type, text, constraints + "~{memory}", true), arguments);
  std::vector<llvm::Value*> members;
  for (unsigned i = 0; i < results.size(); ++i) {
    members.push_back(b.CreateExtractValue(changed, i));
  }
  return members;
}

/// PTX ISA, "Matrix Descriptor Format": address, distance of the next panel and of the next eight
/// rows in units of 16 bytes, and swizzling of 128 bytes.
llvm::Value* DescriptorOf(IrBuilder& b, const Machine::PanelPart& part) {
  constexpr uint64_t kUnitBits = 4, kAddressMask = 0x3ffff, kPanelsAt = 16, kRowsAt = 32;
  constexpr uint64_t kSwizzling = uint64_t{1} << 62;
  constexpr uint64_t kRows = target::kSwizzledRows * target::kPanelRowBytes;
  // Where rows run along the depth no further panel is read.
  const auto panels = static_cast<uint64_t>(part.along_depth ? 1 << kUnitBits : part.panel_bytes);
  llvm::Value* address = b.CreatePtrToInt(part.first.pointer, b.getInt64Ty());
  address = b.CreateLShr(b.CreateAnd(address, b.getInt64(kAddressMask)), kUnitBits);
  return b.CreateOr(address, b.getInt64(kSwizzling | panels >> kUnitBits << kPanelsAt |
                                        kRows >> kUnitBits << kRowsAt));
}

}  // namespace

void NvptxMachine::ShareWithGroups(IrBuilder& b) {
  EmitAssembly(b, "fence.proxy.async.shared::cta;");
}

void NvptxMachine::BeginGroup(IrBuilder& b) { EmitAssembly(b, "wgmma.fence.sync.aligned;"); }

std::vector<llvm::Value*> NvptxMachine::MultiplyInGroup(IrBuilder& b,
                                                        const target::WgmmaInstruction& instruction,
                                                        const PanelPart& rows,
                                                        const PanelPart& columns,
                                                        const std::vector<llvm::Value*>& sums) {
  std::vector<std::string> registers;
  for (size_t i = 0; i < sums.size(); ++i) registers.push_back(fmt::format("${}", i));
  const std::string_view type = instruction.type == "float16"    ? "f16"
                                : instruction.type == "bfloat16" ? "bf16"
                                                                 : "tf32";
  const std::string order =
      instruction.along_depth_only
          ? ""
          : fmt::format(", {}, {}", int{!rows.along_depth}, int{!columns.along_depth});
  const std::string text = fmt::format(
      "{{ .reg .pred adds; setp.eq.b32 adds, 0, 0; "
      "wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{}.{} {{{}}}, ${}, ${}, adds, 1, 1{}; }}",
      2 * sums.size(), instruction.depth, type, type, fmt::join(registers, ", "), sums.size(),
      sums.size() + 1, order);
  return EmitAssembly(b, text, sums, {DescriptorOf(b, rows), DescriptorOf(b, columns)});
}

std::vector<llvm::Value*> NvptxMachine::WaitForGroup(IrBuilder& b,
                                                     const std::vector<llvm::Value*>& sums) {
  return EmitAssembly(b, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;", sums,
                      {});
}

}  // namespace bayloom::codegen
