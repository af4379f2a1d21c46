// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/warp_instruction.h"

#include <array>
#include <charconv>

namespace bayloom::target {
namespace {

constexpr std::array kWarpInstructions = {
    WarpInstruction{"mma.sync.m16n8k16.f32.f16", "float16", "float32", 16, 80},
    WarpInstruction{"mma.sync.m16n8k16.f32.bf16", "bfloat16", "float32", 16, 80},
};

/// 90 for "sm_90"; 0 for what is no name of an architecture.
int NumberOf(std::string_view architecture) {
  constexpr std::string_view kPrefix = "sm_";
  if (!architecture.starts_with(kPrefix)) return 0;
  architecture.remove_prefix(kPrefix.size());
  int number = 0;
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  return number;
}

}  // namespace

std::span<const WarpInstruction> WarpInstructions() { return kWarpInstructions; }

const WarpInstruction* WarpInstructionFor(const GpuLimits& limits, std::string_view a,
                                          std::string_view b) {
  for (const WarpInstruction& instruction : kWarpInstructions) {
    const bool takes = a == instruction.type && b == instruction.type;
    if (takes && NumberOf(limits.architecture) >= instruction.architecture) return &instruction;
  }
  return nullptr;
}

int64_t PaddedRowBytes(int64_t bytes) {
  constexpr int64_t kLine = 16;
  const int64_t lines = (bytes + kLine - 1) / kLine;
  return (lines | 1) * kLine;
}

}  // namespace bayloom::target
