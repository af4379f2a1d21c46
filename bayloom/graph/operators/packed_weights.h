// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// Weights [k, n] as integers of 2, 4 or 8 bits with a scale and an offset for each block of `size`
/// rows:
///
///     weight[k, n] = level[k, n] * scale[k / size, n] + offset[k / size, n]
///
/// Levels are not negative; those of neighbouring rows share a byte, the first in its lowest bits.
struct PackedWeights {
  tensor::Tensor levels;   ///< uint8 [blocks, size * bits / 8, n], a constant
  tensor::Tensor scales;   ///< float32 [blocks, n], a constant
  tensor::Tensor offsets;  ///< float32 [blocks, n], a constant
  int64_t k, size, bits;   ///< the last block may have rows beyond k

  int64_t blocks() const { return levels.shape()[0]; }
  int64_t n() const { return levels.shape()[2]; }
};

/// With more rows than these a product does so much with each weight that it is better unpacked
/// when it is compiled; with fewer, reading the weights is what takes the time.
inline constexpr int64_t kMaxRowsOfPackedProducts = 16;

/// x [..., k] times a matrix that is known to be dequantized block by block along its axis `k_axis`
/// (KnownFloats::FindBlocks); nullopt where it is not, or x has too many rows.
std::optional<tensor::Tensor> ProductWithBlocks(OperatorContext& context, const tensor::Tensor& x,
                                                const tensor::Tensor& matrix, int k_axis);

/// rows [m, k] times the weights, which are unpacked where they are multiplied.
tensor::Tensor PackedProduct(OperatorContext& context, const tensor::Tensor& rows,
                             const PackedWeights& weights);

/// What is stored of weights that a model has as integers [k, n] of at most 8 bits in blocks along
/// k, from `low` to `low` + 2^bits - 1; scales and, if there are any, zero points are [blocks, n].
/// nullopt where one of them is known at run time only, or a block is no whole number of bytes.
std::optional<PackedWeights> PackWeights(OperatorContext& context, const tensor::Tensor& integers,
                                         const tensor::Tensor& scales,
                                         const std::optional<tensor::Tensor>& zeros, int64_t size,
                                         int64_t low, int64_t bits);

}  // namespace bayloom::graph
