// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/mma_instruction.h"

#include <array>

#include "bayloom/target/gpu_machine.h"

namespace bayloom::target {
namespace {

constexpr std::array kWarpInstructions = {
    MmaInstruction{"mma.sync.m16n8k16.f32.f16", "float16", "float32", 16, 80},
    MmaInstruction{"mma.sync.m16n8k16.f32.bf16", "bfloat16", "float32", 16, 80},
    MmaInstruction{"mma.sync.m16n8k8.f32.tf32", "tf32", "float32", 8, 80, 0.5},
};

}  // namespace

std::span<const MmaInstruction> WarpInstructions() { return kWarpInstructions; }

const MmaInstruction* WarpInstructionFor(int capability, std::string_view a, std::string_view b) {
  for (const MmaInstruction& instruction : kWarpInstructions) {
    const bool takes = a == instruction.type && b == instruction.type;
    if (takes && capability >= instruction.architecture) return &instruction;
  }
  return nullptr;
}

const MmaInstruction* WarpInstructionFor(const GpuLimits& limits, std::string_view a,
                                         std::string_view b) {
  return WarpInstructionFor(CapabilityOf(limits.architecture), a, b);
}

int64_t PaddedRowBytes(int64_t bytes, int64_t element_bytes, bool along_depth) {
  const int64_t line = element_bytes == 4 && !along_depth ? 32 : 16;
  const int64_t lines = (bytes + line - 1) / line;
  return (lines | 1) * line;
}

}  // namespace bayloom::target
