// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/gpu_limits.h"

#include <array>

namespace bayloom::target {
namespace {

struct Architecture {
  std::string_view name;
  int shared_kib;  ///< of a block; a multiprocessor has one more
  int threads;     ///< of a multiprocessor
  int blocks;
};

constexpr std::array kArchitectures = {
    Architecture{"sm_80", 163, 2048, 32},
    Architecture{"sm_86", 99, 1536, 16},
    Architecture{"sm_89", 99, 1536, 24},
    Architecture{"sm_90", 227, 2048, 32},
};

}  // namespace

std::optional<GpuLimits> FindGpuLimits(std::string_view architecture) {
  for (const Architecture& known : kArchitectures) {
    if (known.name != architecture) continue;
    GpuLimits limits;
    limits.architecture = known.name;
    limits.max_shared_bytes = int64_t{known.shared_kib} << 10;
    limits.multiprocessor_shared_bytes = int64_t{known.shared_kib + 1} << 10;
    limits.multiprocessor_threads = known.threads;
    limits.multiprocessor_blocks = known.blocks;
    return limits;
  }
  return std::nullopt;
}

std::vector<std::string_view> GpuArchitectures() {
  std::vector<std::string_view> names;
  for (const Architecture& known : kArchitectures) names.push_back(known.name);
  return names;
}

}  // namespace bayloom::target
