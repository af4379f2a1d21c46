// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/codegen/compile.h"
#include "bayloom/codegen/cpu/nest.h"

namespace bayloom::codegen {

/// Emits the bodies of a program's steps (kernel_steps.h), and into `kernel`, which is empty, a
/// call of the runtime for each.
std::vector<KernelStep> EmitSteps(ModuleState& module, llvm::Function& kernel);

}  // namespace bayloom::codegen
