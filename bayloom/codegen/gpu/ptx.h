// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/codegen/gpu/launch.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/program.h"

namespace bayloom::codegen {

/// A program for an NVIDIA GPU.
struct GpuProgram {
  std::string ptx;
  std::vector<GpuLaunch> launches;  ///< one after the other
  int64_t workspace_bytes = 0;      ///< global memory that all launches share
};

/// Compiles a program whose loops are bound to blocks and threads (tensor/primitives.h, Bind) to
/// PTX. Kernels are named `symbol`_0 and so on. Fails, saying why, for programs that the GPU cannot
/// run: too many threads, too much shared memory, buffers that several threads use but are not in
/// shared memory, functions without device code. Loops that are in no loop over threads are run by
/// one thread. Thread safe.
Result<GpuProgram> CompileToPtx(const tensor::Program& program, const target::GpuLimits& limits,
                                const std::string& symbol);

}  // namespace bayloom::codegen
