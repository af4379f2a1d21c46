// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/target/target.h"

namespace bayloom::target {

/// Threads of a warp, which run in step.
inline constexpr int64_t kWarpThreads = 32;

/// What one kernel may use of an NVIDIA GPU, and what its multiprocessors have (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability").
struct GpuLimits {
  std::string architecture;  ///< "sm_90"
  int max_threads = 1024;    ///< of a block
  int max_registers = 255;   ///< of a thread, 32 bits each
  int64_t max_blocks = (int64_t{1} << 31) - 1;
  int64_t max_shared_bytes = 0;  ///< of a block

  // Of a multiprocessor.
  int multiprocessor_threads = 0;
  int multiprocessor_blocks = 0;
  int64_t multiprocessor_registers = 65536;
  int64_t multiprocessor_shared_bytes = 0;
};

/// The limits of "sm_80", "sm_86", "sm_89", "sm_90" or "sm_90a"; nullopt for other names. The last
/// has instructions that GPUs later than sm_90 do not have (IsOfOneCapability).
std::optional<GpuLimits> FindGpuLimits(std::string_view architecture);
std::vector<std::string_view> GpuArchitectures();

/// The target of an architecture, "cuda:sm_90"; nullopt for names that FindGpuLimits does not know.
/// GPUs of one architecture are one target: what they differ in is their machine.
std::optional<Target> GpuTarget(std::string_view architecture);
/// The limits of a target of kind kNvidiaGpu.
GpuLimits LimitsOf(const Target& target);

}  // namespace bayloom::target
