// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bayloom::codegen {

/// How far an open axis makes one of the loops over a grid go in a run: (size - before) / step
/// steps, rounded up, but 1 at least and `most` at most.
struct GridReach {
  int64_t most = 1;
  int64_t size = 0;  ///< number of the size among the kernel's arguments
  int64_t before = 0;
  int64_t step = 1;
  bool or_next = false;  ///< or as far as the next one says, where that is further
};

/// How a kernel is launched. Its arguments are pointers to the buffers of Program::Parameters(), in
/// that order and aligned to target::kBufferAlignment (abi.h), then one to the workspace.
struct GpuLaunch {
  std::string symbol;
  int64_t blocks = 1;        ///< of the grid, which has one dimension, for the largest sizes
  int threads = 1;           ///< of a block, which has one dimension
  int64_t shared_bytes = 0;  ///< of a block, allocated by the launch
  // As the assembler says; 0 where it was not asked.
  int registers = 0;        ///< of a thread
  int64_t spill_bytes = 0;  ///< of a thread, stored and loaded
  // A kernel over open axes needs fewer blocks where sizes are small; of more those behind do
  // nothing.
  int64_t block_share = 1;              ///< iterations of the grid's loops that a block has
  int64_t fixed_iterations = 1;         ///< of the loops that no size bounds
  std::vector<GridReach> reaches = {};  ///< of the others; none: `blocks` for all sizes
};

/// Blocks that a launch needs in a run with these values of the program's sizes.
int64_t BlocksAt(const GpuLaunch& launch, std::span<const int64_t> sizes);

}  // namespace bayloom::codegen
