// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// A factor of a dot product's terms: an element, or padding where conditions on indices do not
/// hold.
struct DotFactor {
  Expr load;
  Expr value;      ///< the load, or what chooses between it and padding
  Expr condition;  ///< that all hold; undefined: always the element
  /// The padding; 0 for floats. nullopt: different ones for different conditions.
  std::optional<int64_t> otherwise = 0;
  DType dtype() const { return load->dtype; }
};

/// A sum of products of two narrow elements in a 32-bit type:
///
///     sum += cast(a[...]) * cast(b[...])      int8 and uint8, mixed or not, into int32
///                                             int16 into int32, bfloat16 and float16 into float32
///                                             tf32 into float32, by warps only
///
/// Processors have instructions that sum up as many neighbouring products at once as fit into 32
/// bits of each operand, the depth, and some that multiply matrices of twice the depth. The warps
/// of GPUs have instructions for matrices of floats eight times the depth
/// (target/mma_instruction.h).
struct DotProduct {
  DotFactor a, b;
  int64_t depth() const { return 4 / ByteSize(a.dtype()); }
  int64_t matrix_depth() const { return 2 * depth(); }
  int64_t warp_depth() const { return 8 * depth(); }
};

/// The dot product that a reduction block is; nullopt for other blocks.
std::optional<DotProduct> MatchDotProduct(const Block& block);

/// The block below a loop whose products an instruction can sum up (Tensorize says when), or why
/// there is none.
Result<BlockId> BlockToTensorize(const Program& program, LoopId loop);

}  // namespace bayloom::tensor
