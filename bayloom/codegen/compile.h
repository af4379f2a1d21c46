// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/codegen/abi.h"
#include "bayloom/codegen/gpu/launch.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::codegen {

/// A compiled program. On processors its function is a KernelFunction: abi.h says how to call it.
/// On GPUs it is a module that the driver loads, and kernels that are launched one after the other.
struct KernelObject {
  std::string symbol;
  /// A relocatable, position-independent object file; of GPUs a cubin or PTX (gpu/gpu_image.h).
  std::string object;
  std::vector<GpuLaunch> launches;     ///< of GPUs
  int64_t shared_workspace_bytes = 0;  ///< used by all threads together
  int64_t worker_workspace_bytes = 0;  ///< further bytes for each thread

  int64_t WorkspaceBytes(int threads) const {
    return shared_workspace_bytes + threads * worker_workspace_bytes;
  }
};

/// Compiles a program for the target. Fails when the program uses what the target has not (on
/// processors, loops bound to threads of GPUs) or would become unreasonably large. Thread safe.
Result<KernelObject> CompileProgram(const tensor::Program& program, const target::Target& target,
                                    const std::string& symbol);

/// What CompileProgram makes, as text for people: LLVM's intermediate representation after the
/// passes over it, or the processor's assembly.
Result<std::string> EmitLlvmIr(const tensor::Program& program, const target::Target& target,
                               const std::string& symbol);
Result<std::string> EmitAssembly(const tensor::Program& program, const target::Target& target,
                                 const std::string& symbol);

}  // namespace bayloom::codegen
