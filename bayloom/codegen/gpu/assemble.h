// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/codegen/gpu/ptx.h"

namespace bayloom::codegen {

/// What the assembler says of a kernel.
struct AssembledKernel {
  std::string symbol;
  int registers = 0;  ///< of a thread
  int64_t stack_bytes = 0;
  int64_t spill_bytes = 0;  ///< stored and loaded
};

/// Machine code for one architecture.
struct AssembledProgram {
  std::string cubin;
  std::vector<AssembledKernel> kernels;  ///< in the order of the PTX
};

/// Whether NVIDIA's assembler, `ptxas` of the CUDA toolkit, is in PATH.
bool HasAssembler();

/// Assembles for the architecture ("sm_90"). Fails with what the assembler says, or if there is
/// none.
Result<AssembledProgram> Assemble(const std::string& ptx, const std::string& architecture);

}  // namespace bayloom::codegen
