// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/feature/internal/gpu_kernel.h"
#include "bayloom/target/warp_instruction.h"

namespace bayloom::feature {

/// A tensorized loop whose products the warps of a block compute together
/// (target/warp_instruction.h): the same as code generation's plan of it
/// (codegen/internal/gpu/warp_plan.cc) as far as the time depends on it.
struct WarpWork {
  const target::WarpInstruction* instruction = nullptr;
  std::vector<tensor::LoopId> covered;  ///< loops of a thread that one instruction does completely
  tensor::DigitId lane_row = -1;        ///< of the threads of a warp

  bool Covers(tensor::LoopId loop) const;
  /// Multiply-adds of float16 that take as long as one instruction.
  double MultiplyAdds() const;
  /// Bytes of a factor that all threads together load for one instruction.
  double FactorBytes(const tensor::Program& program, const tensor::Access& factor) const;
};

/// nullopt where threads compute the products one by one, or GPUs of the compute capability have no
/// such instruction.
std::optional<WarpWork> WarpWorkOf(const tensor::Program& program, const GpuProgramShape& shape,
                                   const GpuBlockNest& nest, int capability);

}  // namespace bayloom::feature
