// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/feature/gpu_kernel.h"
#include "bayloom/target/gpu_machine.h"
#include "bayloom/target/warp_group_instruction.h"
#include "bayloom/target/warp_instruction.h"

namespace bayloom::feature {

/// A tensorized loop whose products the warps of a block compute together
/// (target/warp_instruction.h): the same as code generation's plan of it
/// (plan/gpu/warp_plan.cc, warp_group_plan.cc) as far as the time depends on it.
struct WarpWork {
  const target::WarpInstruction* instruction = nullptr;
  /// By groups of four warps instead, of so many columns (target/warp_group_instruction.h).
  const target::WarpGroupInstruction* group = nullptr;
  int64_t columns = target::WarpInstruction::kColumns;
  std::vector<tensor::LoopId> covered;  ///< loops of a thread that one instruction does completely
  tensor::DigitId lane_row = -1;        ///< of the threads of a warp

  bool Covers(tensor::LoopId loop) const;
  /// Clocks of a multiprocessor that a warp's part of one instruction takes.
  double Clocks(const target::GpuMachine& gpu) const;
  /// Bytes of a factor that are read from shared memory for a warp's part of one instruction.
  double FactorBytes(const tensor::Program& program, const tensor::Access& factor) const;
};

/// nullopt where threads compute the products one by one, or the GPU has no such instruction.
std::optional<WarpWork> WarpWorkOf(const tensor::Program& program, const GpuProgramShape& shape,
                                   const GpuBlockNest& nest, const target::GpuMachine& gpu);

}  // namespace bayloom::feature
