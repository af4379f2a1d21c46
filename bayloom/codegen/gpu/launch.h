// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace bayloom::codegen {

/// How a kernel is launched. Its arguments are pointers to the buffers of Program::Parameters(), in
/// that order and aligned to target::kBufferAlignment (abi.h), then one to the workspace.
struct GpuLaunch {
  std::string symbol;
  int64_t blocks = 1;        ///< of the grid, which has one dimension
  int threads = 1;           ///< of a block, which has one dimension
  int64_t shared_bytes = 0;  ///< of a block, allocated by the launch
  // As the assembler says; 0 where it was not asked.
  int registers = 0;        ///< of a thread
  int64_t spill_bytes = 0;  ///< of a thread, stored and loaded
};

}  // namespace bayloom::codegen
