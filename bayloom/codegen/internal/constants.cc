// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/internal/constants.h"

#include <llvm/IR/LLVMContext.h>
#include <unistd.h>

#include "bayloom/codegen/object.h"

namespace bayloom::codegen {
namespace {

/// As a string of the assembler's.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

Result<std::string> EmbedFile(const std::string& symbol, const std::string& path,
                              const target::Target& target) {
  if (access(path.c_str(), R_OK) != 0) return Error{"cannot read '" + path + "'"};
  Result<llvm::TargetMachine*> machine = TargetMachineFor(target);
  if (!machine) return machine.error();
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  const std::string size = symbol + "_size";
  module.setModuleInlineAsm(
      ".section .rodata\n"
      ".globl " +
      symbol + "\n.p2align 6\n" + symbol +
      ":\n"
      ".incbin " +
      Quoted(path) +
      "\n"
      "0:\n"
      ".globl " +
      size + "\n.p2align 3\n" + size +
      ":\n"
      ".quad 0b - " +
      symbol + "\n");
  Optimize(module, **machine, target);
  return EmitMachineCode(module, **machine, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace bayloom::codegen
