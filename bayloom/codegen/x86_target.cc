// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/x86_target.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include <algorithm>

#include "bayloom/codegen/ir/processor.h"

namespace bayloom::codegen {
namespace {

constexpr char kX86Triple[] = "x86_64-pc-linux-gnu";

int RegisterBytes(const target::Target& target) {
  if (target::HasFeature(target, "avx512f")) return 64;
  return target::HasFeature(target, "avx") ? 32 : 16;
}

}  // namespace

std::optional<target::Target> X86Target(const std::string& cpu, int cores) {
  llvm::SmallVector<llvm::StringRef> known;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (std::ranges::find(known, llvm::StringRef(cpu)) == known.end()) return std::nullopt;
  target::Target target;
  target.name = target.cpu = cpu;
  target.triple = kX86Triple;
  target.features = FeaturesOfProcessor(kX86Triple, cpu, target::TargetKind::kX86_64);
  target.cores = cores;
  target.vector_bytes = RegisterBytes(target);
  return target;
}

}  // namespace bayloom::codegen
