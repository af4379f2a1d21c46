// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bayloom/target/gpu_limits.h"

namespace bayloom::target {

/// An instruction by which the 32 threads of a warp together multiply matrices and add the product
/// to a matrix of sums:
///
///     sum[r][c] += a[r][0] * b[0][c] + ... + a[r][depth - 1] * b[depth - 1][c]
///
/// for r < rows and c < columns. It does what dot products (dot_instruction.h) of all rows and
/// columns do, and the loop over its depth is marked by the same primitive (tensor::Tensorize).
/// Thread 4 * g + t of a warp has the sums of rows g and g + 8 and of columns 2 * t and 2 * t + 1
/// (PTX ISA, "Matrix Fragments for mma.m16n8k16").
///
/// Element types are named as tensor::ToString names them. Of tf32 the instruction reads the upper
/// 19 of 32 bits.
struct MmaInstruction {
  std::string_view name;  ///< the assembler's
  std::string_view type;  ///< of elements of both operands
  std::string_view sum;
  int depth;
  int architecture;  ///< the first that has it: 80 for sm_80
  /// Products that a multiprocessor sums up in the time of one of float16: half as many where
  /// elements have twice the bits (data sheets of sm_80 to sm_90).
  double rate = 1;

  static constexpr int kRows = 16, kColumns = 8, kLanes = kWarpThreads;
  /// What a thread has of the sums: rows g and g + 8, columns 2 * t and 2 * t + 1.
  static constexpr int kLaneRows = 8, kRowParts = 2, kLaneColumns = 4, kColumnParts = 2;
};

std::span<const MmaInstruction> WarpInstructions();

/// The instruction for operands of these element types; null where GPUs of the compute capability
/// (90 for sm_90) have none.
const MmaInstruction* WarpInstructionFor(int capability, std::string_view a, std::string_view b);
const MmaInstruction* WarpInstructionFor(const GpuLimits& limits, std::string_view a,
                                         std::string_view b);

/// Rows of matrices in shared memory take so many bytes, for so many of elements: an odd multiple
/// of 16. Eight of them, which ldmatrix reads at a time, 16 bytes of each, then begin in banks of
/// their own. Elements of 32 bits are read one by one where rows do not run along the depth, eight
/// neighbours of four rows at a time: those take an odd multiple of 32.
int64_t PaddedRowBytes(int64_t bytes, int64_t element_bytes, bool along_depth);

}  // namespace bayloom::target
