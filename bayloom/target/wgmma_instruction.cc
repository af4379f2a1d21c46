// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/wgmma_instruction.h"

#include <array>

#include "bayloom/target/gpu_machine.h"

namespace bayloom::target {
namespace {

constexpr int kCapability = 90;  // neither earlier nor later GPUs have them

constexpr std::array kWarpGroupInstructions = {
    WgmmaInstruction{"wgmma.mma_async.m64nk16.f32.f16", "float16", 16, false},
    WgmmaInstruction{"wgmma.mma_async.m64nk16.f32.bf16", "bfloat16", 16, false},
    WgmmaInstruction{"wgmma.mma_async.m64nk8.f32.tf32", "tf32", 8, true, 0.5},
};

}  // namespace

std::span<const WgmmaInstruction> WarpGroupInstructions() { return kWarpGroupInstructions; }

const WgmmaInstruction* WarpGroupInstructionFor(int capability, std::string_view a,
                                                std::string_view b) {
  if (capability != kCapability || a != b) return nullptr;
  for (const WgmmaInstruction& instruction : kWarpGroupInstructions) {
    if (a == instruction.type) return &instruction;
  }
  return nullptr;
}

const WgmmaInstruction* WarpGroupInstructionFor(const GpuLimits& limits, std::string_view a,
                                                std::string_view b) {
  return IsOfOneCapability(limits.architecture)
             ? WarpGroupInstructionFor(CapabilityOf(limits.architecture), a, b)
             : nullptr;
}

}  // namespace bayloom::target
