// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bayloom/codegen/gpu/stand_in_machine.h"
#include "bayloom/target/wgmma_instruction.h"
#include "bayloom/tensor/dtype.h"

namespace bayloom::codegen {

/// What the stand-in does where threads of a warp work on matrices together. Registers are 32 bits;
/// those of operands hold two elements of 16 bits, the first in the lower half, or one of 32 (PTX
/// ISA, "ldmatrix" and "Matrix Fragments for mma.m16n8k16", "for mma.m16n8k8").

inline constexpr int kMatrixRows = 8;  ///< of a matrix that ldmatrix loads, of 8 columns of 16 bits
inline constexpr int kMatrixRowBytes = 16;

/// An operand's element as tensor cores take it: of tf32 they do not look at the lower 13 bits.
float OperandAt(const std::byte* element, tensor::DType dtype);

template <typename T>
using OfWarp = std::array<T, 32>;

/// Row r of matrix m is at rows[8 * m + r]. Thread 4 * g + t gets, in register m, elements 2 * t
/// and 2 * t + 1 of row g, or, transposed, of column g.
void LoadMatrices(const OfWarp<const void*>& rows, uint32_t matrices, bool transposed,
                  const OfWarp<uint32_t*>& registers);

/// mma.m16n8k16, and m16n8k8 of tf32: sums (registers 6 to 9, float32) become sums + rows (0 to 3)
/// * columns (4 and 5), whose elements are bfloat16, float16, or tf32. Of the latter the lower 13
/// bits are not looked at.
void MultiplyMatrices(tensor::DType dtype, const OfWarp<uint32_t*>& registers);

template <typename T>
using OfGroup = std::array<T, target::WgmmaInstruction::kThreads>;

/// Where 16 bytes of what a group of warps reads of an operand lie, of `lines` rows or columns:
/// number `piece` of 2 * lines. Along the depth: two of each line; else one of each step of the
/// depth, for 8 lines, and so on.
const std::byte* PanelPiece(const StandInPanelPart& part, size_t piece);

/// wgmma.mma_async: the sums (float32) of all 128 threads become sums + rows * columns.
void MultiplyPanels(tensor::DType dtype, const StandInPanelPart* parts, size_t columns,
                    const OfGroup<uint32_t*>& sums);

}  // namespace bayloom::codegen
