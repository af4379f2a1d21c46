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
  Expr value;           ///< the load, or what chooses between it and padding
  Expr condition = {};  ///< that all hold; undefined: always the element
  /// The padding; 0 for floats. nullopt: different ones for different conditions.
  std::optional<int64_t> otherwise = 0;
  /// Of elements that share a byte: by how many bits an element lies above the lowest one (int32),
  /// and what is left of the shifted byte. Undefined: the byte is the element.
  Expr shift = {};
  int64_t mask = 0xff;
  /// A part of a byte has no sign bit: it may be taken for a signed byte, too.
  bool as_signed = false;
  DType dtype() const { return as_signed ? DType::kInt8 : load->dtype; }
};

/// How sums of integer products become a sum of floats: blocks of them have a scale of their own.
struct BlockScale {
  Expr scale;  ///< float32
  Expr zero;   ///< int32, what is taken away from each `b`; undefined: nothing
};

/// A sum of products of two narrow elements in a 32-bit type:
///
///     sum += cast(a[...]) * cast(b[...])      int8 and uint8, mixed or not, into int32
///                                             int16 into int32, bfloat16 and float16 into float32
///                                             tf32 into float32, by warps only
///     sum += float32(cast(a[...]) * (cast(b[...]) - zero)) * scale      bytes, or parts of bytes
///
/// Processors have instructions that sum up as many neighbouring products at once as fit into 32
/// bits of each operand, the depth, and some that multiply matrices of twice the depth. The warps
/// of GPUs have instructions for matrices of floats eight times the depth
/// (target/mma_instruction.h).
struct DotProduct {
  DotFactor a, b;
  std::optional<BlockScale> block;  ///< of the last of these forms
  /// Whether elements are whole, and their products what is summed up.
  bool IsPlain() const { return !block && !a.shift.defined() && !b.shift.defined(); }
  /// Whether products that differ in the iterator alone have the same scale and zero.
  bool HasOneScaleAlong(int iter) const;
  /// Whether an instruction can sum them up, besides: their elements lie at the same place of
  /// bytes.
  bool SumsAlong(int iter) const;
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
