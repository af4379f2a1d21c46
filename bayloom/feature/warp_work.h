// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/feature/gpu_nest.h"
#include "bayloom/target/gpu_machine.h"

namespace bayloom::feature {

/// A tensorized loop whose products the warps of a block compute together, as it is planned
/// (plan::WarpProduct, plan::WarpGroupProduct): a warp's part of one instruction.
struct WarpWork {
  bool by_groups = false;  ///< of four warps, which share the columns
  int64_t columns = 0, depth = 0;
  double rate = 1;                      ///< of the instruction (target/mma_instruction.h)
  tensor::BufferId rows = -1;           ///< the factor that has the product's rows
  std::vector<tensor::LoopId> covered;  ///< loops of a thread that one instruction does completely

  bool Covers(tensor::LoopId loop) const;
  /// Clocks of a multiprocessor.
  double Clocks(const target::GpuMachine& gpu) const;
  /// Bytes of a factor that are read from shared memory.
  double FactorBytes(const tensor::Program& program, const tensor::Access& factor) const;
};

/// nullopt where threads compute the products one by one.
std::optional<WarpWork> WarpWorkOf(const tensor::Program& program, const plan::GpuPlan& plan,
                                   const GpuBlockNest& nest);

}  // namespace bayloom::feature
