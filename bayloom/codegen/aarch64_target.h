// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// What names of AArch64 targets begin with.
inline constexpr char kAArch64Name[] = "aarch64-linux-gnu";

/// Whether the name is kAArch64Name, or that, a colon and a processor:
/// "aarch64-linux-gnu:neoverse-n1".
bool IsAArch64Name(const std::string& name);

/// The target of such a name, which code can be made for on any machine. The processor has one of
/// LLVM's names; without one it is "generic", Armv8-A with NEON, which all have. Its features are
/// those that loops can use and that a processor can be asked for (cpu_features.h); its caches are
/// assumed (target/arm_processor.h). Vectors are NEON's, 16 bytes, where there is SVE, too.
/// `cores`: threads that parallel loops run on. Throws InputError, listing processors of similar
/// names, where LLVM does not know the processor.
target::Target AArch64Target(const std::string& name, int cores);

}  // namespace bayloom::codegen
