// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/gpu_limits.h"

#include <algorithm>
#include <array>

namespace bayloom::target {
namespace {

struct Architecture {
  std::string_view name;
  int shared_kib;  ///< of a block; a multiprocessor has one more
  int threads;     ///< of a multiprocessor
  int blocks;
  int l2_mib;  ///< of the largest GPU
};

constexpr std::array kArchitectures = {
    Architecture{"sm_80", 163, 2048, 32, 40},  Architecture{"sm_86", 99, 1536, 16, 6},
    Architecture{"sm_89", 99, 1536, 24, 72},   Architecture{"sm_90", 227, 2048, 32, 50},
    Architecture{"sm_90a", 227, 2048, 32, 50},
};

const Architecture* Find(std::string_view name) {
  const auto* const found = std::ranges::find(kArchitectures, name, &Architecture::name);
  return found == kArchitectures.end() ? nullptr : found;
}

}  // namespace

std::optional<GpuLimits> FindGpuLimits(std::string_view architecture) {
  const Architecture* const known = Find(architecture);
  if (known == nullptr) return std::nullopt;
  GpuLimits limits;
  limits.architecture = known->name;
  limits.max_shared_bytes = int64_t{known->shared_kib} << 10;
  limits.multiprocessor_shared_bytes = int64_t{known->shared_kib + 1} << 10;
  limits.multiprocessor_threads = known->threads;
  limits.multiprocessor_blocks = known->blocks;
  return limits;
}

std::vector<std::string_view> GpuArchitectures() {
  std::vector<std::string_view> names;
  for (const Architecture& known : kArchitectures) names.push_back(known.name);
  return names;
}

std::optional<Target> GpuTarget(std::string_view architecture) {
  const Architecture* const known = Find(architecture);
  if (known == nullptr) return std::nullopt;
  Target target;
  target.name = "cuda:" + std::string(known->name);
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = known->name;
  target.features = "+ptx80";
  target.cores = 1;
  target.vector_bytes = 16;
  target.l1_bytes = int64_t{known->shared_kib + 1} << 10;
  target.l2_bytes = int64_t{known->l2_mib} << 20;
  return target;
}

GpuLimits LimitsOf(const Target& target) { return FindGpuLimits(target.cpu).value_or(GpuLimits()); }

}  // namespace bayloom::target
