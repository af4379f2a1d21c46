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

/// A part of a kernel that begins when the one before it has ended: a loop of the runtime
/// (bayloom_kernel_step of codegen/runtime/bayloom_runtime.h).
struct KernelStep {
  int64_t extent;
  std::string symbol;  ///< of the loop's body, in the kernel's object
};

/// What of a kernel can be called.
enum class KernelForm : uint8_t {
  kWhole,  ///< its function
  kSteps,  ///< and the bodies of its steps, so that it can run beside other kernels
};

/// A compiled program. On processors its function is a KernelFunction: abi.h says how to call it.
/// On GPUs it is a module that the driver loads, and kernels that are launched one after the other.
struct KernelObject {
  std::string symbol;
  /// A relocatable, position-independent object file; of GPUs a cubin or PTX (gpu/gpu_image.h).
  std::string object;
  std::vector<GpuLaunch> launches;     ///< of GPUs
  std::vector<KernelStep> steps;       ///< of KernelForm::kSteps
  int64_t shared_workspace_bytes = 0;  ///< used by all threads together
  int64_t worker_workspace_bytes = 0;  ///< further bytes for each thread
  /// Of processors: machine code and the constants that it reads, as a library has them; 0:
  /// unknown.
  int64_t code_bytes = 0;

  int64_t WorkspaceBytes(int threads) const {
    return shared_workspace_bytes + threads * worker_workspace_bytes;
  }
};

/// Compiles a program for the target. Fails when the program uses what the target has not (on
/// processors, loops bound to threads of GPUs) or would become unreasonably large. Thread safe.
/// KernelForm::kSteps is for processors, and for programs that StepsOf (kernel_steps.h) divides.
Result<KernelObject> CompileProgram(const tensor::Program& program, const target::Target& target,
                                    const std::string& symbol,
                                    KernelForm form = KernelForm::kWhole);

/// What CompileProgram makes, as text for people: LLVM's intermediate representation after the
/// passes over it, or the processor's assembly.
Result<std::string> EmitLlvmIr(const tensor::Program& program, const target::Target& target,
                               const std::string& symbol);
Result<std::string> EmitAssembly(const tensor::Program& program, const target::Target& target,
                                 const std::string& symbol);

/// Compiles a module of LLVM's intermediate representation, given as text, for all processors of
/// the kind: a relocatable, position-independent object file. Fails with what LLVM says of the
/// text.
Result<std::string> CompileIr(const std::string& text, target::TargetKind kind);

}  // namespace bayloom::codegen
