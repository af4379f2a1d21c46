// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/resource_usage.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/target/gpu_machine.h"

namespace bayloom::measure {
namespace {

/// 16 registers stored and loaded again: more than what is done once, outside of loops.
constexpr int64_t kMaxSpillBytes = 128;

int64_t InGranules(int64_t registers) {
  constexpr int64_t kGranule = target::kRegisterGranule;
  return (registers + kGranule - 1) / kGranule * kGranule;
}

}  // namespace

ResourceUsage UseOf(const std::vector<codegen::GpuLaunch>& launches) {
  ResourceUsage use;
  for (const codegen::GpuLaunch& launch : launches) {
    use.registers = std::max(use.registers, launch.registers);
    use.spill_bytes = std::max(use.spill_bytes, launch.spill_bytes);
    use.shared_bytes = std::max(use.shared_bytes, launch.shared_bytes);
    const int64_t warps = (launch.threads + target::kWarpThreads - 1) / target::kWarpThreads;
    use.registers_of_block = std::max(use.registers_of_block,
                                      warps * InGranules(launch.registers * target::kWarpThreads));
  }
  return use;
}

std::optional<std::string> RefusalOf(const ResourceUsage& use) {
  // Of every GPU.
  const int64_t all = target::GpuLimits().multiprocessor_registers;
  if (use.registers_of_block > all) {
    return fmt::format("needs {} registers of a thread: a block's are {}, and there are {}",
                       use.registers, use.registers_of_block, all);
  }
  if (use.spill_bytes > kMaxSpillBytes) return fmt::format("spills {} bytes", use.spill_bytes);
  return std::nullopt;
}

}  // namespace bayloom::measure
