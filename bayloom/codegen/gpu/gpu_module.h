// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/codegen/gpu/launch.h"
#include "bayloom/codegen/gpu/machine.h"
#include "bayloom/plan/gpu/gpu_plan.h"

namespace bayloom::codegen {

/// Emits kernel number `kernel` of a program into the module and returns how it is launched. Fails
/// for arithmetic that GPUs have no instructions for.
Result<GpuLaunch> EmitKernel(llvm::Module& module, const tensor::Program& program,
                             const plan::GpuPlan& plan, size_t kernel, Machine& machine,
                             const std::string& symbol);

}  // namespace bayloom::codegen
