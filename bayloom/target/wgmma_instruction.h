// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bayloom/target/gpu_limits.h"
#include "bayloom/target/mma_instruction.h"

namespace bayloom::target {

/// An instruction by which the 128 threads of four warps, a warpgroup, together multiply matrices
/// that lie in shared memory and add the product to a matrix of sums in their registers, while they
/// go on (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operations"):
///
///     sum[r][c] += a[r][0] * b[0][c] + ... + a[r][depth - 1] * b[depth - 1][c]
///
/// for r < 64 and c < columns, any multiple of 8 up to 256. Warp w of the four has the sums of rows
/// 16 * w to 16 * w + 15, where they would be by the instruction of a warp for each 8 columns
/// (warp_instruction.h).
///
/// Operands lie in panels: rows of 128 bytes, one after the other, in which the 16 bytes at
/// position p of row r are found at position p xor (r modulo 8), so that eight of a column lie in
/// different banks ("Shared Memory Matrix Layout", 128-byte swizzling). Panels begin at multiples
/// of 1,024 bytes.
struct WgmmaInstruction {
  std::string_view name;  ///< the assembler's, "n" for the number of columns
  std::string_view type;  ///< of elements of both operands
  int depth;
  bool along_depth_only;  ///< rows of panels must run along the depth
  /// As MmaInstruction's.
  double rate = 1;

  static constexpr int kWarps = 4, kThreads = kWarps * MmaInstruction::kLanes;
  static constexpr int kRows = kWarps * MmaInstruction::kRows, kMaxColumns = 256;
};

inline constexpr int64_t kPanelRowBytes = 128, kPanelAlignment = 1024;
inline constexpr int64_t kSwizzledRows = 8;         ///< after so many the order repeats
inline constexpr int64_t kSwizzledPieceBytes = 16;  ///< what stays together

std::span<const WgmmaInstruction> WarpGroupInstructions();

/// The instruction for operands of these element types; null where GPUs of the compute capability
/// have none: all but 90. Code has them if it is for that capability alone ("sm_90a").
const WgmmaInstruction* WarpGroupInstructionFor(int capability, std::string_view a,
                                                std::string_view b);
const WgmmaInstruction* WarpGroupInstructionFor(const GpuLimits& limits, std::string_view a,
                                                std::string_view b);

}  // namespace bayloom::target
