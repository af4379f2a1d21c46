// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/feature/gpu_nest.h"

namespace bayloom::feature {

/// What one instruction of a warp moves, as the first warp of a block of threads executes it.
struct WarpAccess {
  int width = 1;  ///< elements of a thread, side by side

  // Of global memory.
  double sectors = 1;       ///< of 32 bytes, that it touches
  double lines = 1;         ///< of 128 bytes
  double wanted_bytes = 4;  ///< different bytes among them that threads asked for

  /// Clocks in which shared memory answers: one for each 128 bytes, more where threads want
  /// different words of one bank.
  double shared_clocks = 1;
};

/// An access of a nest. Indices that are not affine are taken for elements far from each other.
WarpAccess WarpAccessOf(const tensor::Program& program, const plan::GpuPlan& plan,
                        const GpuBlockNest& nest, const tensor::Access& access);

/// Whether an access moves with the loop.
bool MovesWith(const tensor::Program& program, const tensor::Access& access, tensor::LoopId loop);

/// Bytes of the buffer, each once, that the access touches while digits take so many values each
/// (by DigitId; 1: it stands still).
double TouchedBytes(const tensor::Program& program, const tensor::Access& access,
                    const std::vector<int64_t>& values);

}  // namespace bayloom::feature
