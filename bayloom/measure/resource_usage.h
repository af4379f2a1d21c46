// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/codegen/gpu/launch.h"

namespace bayloom::measure {

/// What only the assembler of a GPU knows of a program: what its threads need, the most of its
/// kernels. 0: unknown, as where the driver assembles.
struct ResourceUsage {
  int registers = 0;         ///< of a thread
  int64_t spill_bytes = 0;   ///< of a thread, stored and loaded
  int64_t shared_bytes = 0;  ///< of a block of threads
  int64_t registers_of_block = 0;

  bool operator==(const ResourceUsage&) const = default;
};

ResourceUsage UseOf(const std::vector<codegen::GpuLaunch>& launches);

/// Why the device need not be asked: "needs 168 registers of a thread ..." where a multiprocessor
/// has not so many for the block, and "spills 1024 bytes", where inner loops keep their values in
/// memory. nullopt for all others.
std::optional<std::string> RefusalOf(const ResourceUsage& use);

}  // namespace bayloom::measure
