// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// Weights [k, n] as integers of 2, 4 or 8 bits with a scale and a zero point for each block of
/// `size` rows:
///
///     weight[k, n] = (level[k, n] - zero[k / size, n]) * scale[k / size, n]
///
/// Levels are not negative; those of neighbouring rows share a byte, the first in its lowest bits.
/// Weights of several experts have an axis more, the first one.
struct PackedWeights {
  tensor::Tensor levels;                ///< uint8 [blocks, size * bits / 8, n], a constant
  tensor::Tensor scales;                ///< float32 or float16 [blocks, n], a constant
  std::optional<tensor::Tensor> zeros;  ///< uint8 or float32 [blocks, n], a constant
  int64_t zero;                         ///< where there are no `zeros`
  int64_t k, size, bits;                ///< the last block may have rows beyond k

  int64_t blocks() const { return levels.shape()[levels.shape().size() - 3]; }
  int64_t n() const { return levels.shape().back(); }
};

/// Which experts' weights rows are multiplied by.
struct Experts {
  int64_t slots;          ///< products of each row, or rows of each group
  tensor::Tensor chosen;  ///< int64 [rows, slots]: the expert of each; or of each group: [groups]
};

/// The expert of slot or row number `slot` of row or group number `m`.
tensor::Expr ExpertAt(const Experts& experts, const tensor::Expr& m, const tensor::Expr& slot);

/// How rows that packed weights multiply are read.
enum class RowPrecision : uint8_t {
  kFloat,  ///< as float32
  /// Rounded to 8 bits, each block of each row with a scale of its own: its largest magnitude is
  /// 127. Products are summed up as integers, block by block.
  kInt8,
};

/// x [..., k] times a matrix that is known to be dequantized block by block along its axis `k_axis`
/// (KnownFloats::FindBlocks); nullopt where it is not.
std::optional<tensor::Tensor> ProductWithBlocks(OperatorContext& context, const tensor::Tensor& x,
                                                const tensor::Tensor& matrix, int k_axis);

/// 8 bits where the node permits them (its attribute accuracy_level is 4), or the import does.
RowPrecision PrecisionOfRows(OperatorContext& context);

/// Scales in float16, if that holds all of them as they are.
tensor::Tensor NarrowScales(OperatorContext& context, const tensor::Tensor& scales);

/// float32 rows [m, k] times the weights, which are unpacked where they are multiplied: [m, n].
tensor::Tensor PackedProduct(OperatorContext& context, const tensor::Tensor& rows,
                             const PackedWeights& weights, RowPrecision precision);
/// float32 rows [m, k], or one for each slot or row of a group [m, slots, k], times those of their
/// experts: [m, slots, n].
tensor::Tensor PackedProduct(OperatorContext& context, const tensor::Tensor& rows,
                             const PackedWeights& weights, RowPrecision precision,
                             const Experts& experts);

/// What is stored of weights that a model has as integers [k, n] of at most 8 bits in blocks along
/// k, from `low` to `low` + 2^bits - 1; scales and, if there are any, zero points are [blocks, n].
/// nullopt where one of them is known at run time only, or a block is no whole number of bytes.
std::optional<PackedWeights> PackWeights(OperatorContext& context, const tensor::Tensor& integers,
                                         const tensor::Tensor& scales,
                                         const std::optional<tensor::Tensor>& zeros, int64_t size,
                                         int64_t low, int64_t bits);

}  // namespace bayloom::graph
