// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "bayloom/target/target.h"

namespace bayloom::codegen {

/// The target of an x86-64 processor by LLVM's name, "sapphirerapids" or "znver4", which code can
/// be made for on any machine; nullopt where LLVM has no 64-bit processor of the name. Its features
/// are those that it can be asked for (cpu_features.h). `cores`: threads that parallel loops run
/// on.
std::optional<target::Target> X86Target(const std::string& cpu, int cores);

}  // namespace bayloom::codegen
