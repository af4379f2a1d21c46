// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bayloom/tensor/dtype.h"

namespace bayloom::tensor {

/// What a program reads in place of a constant that the caller has: the constant with some of its
/// dimensions multiplied by matrices. It is computed once, when the constant is prepared
/// (PackLayout), in double precision, and rounded once.
///
///     prepared[a, b, c] = sum over r, s of A[a, r] * B[b, s] * source[r, s, c]
struct ConstantTransform {
  std::vector<int64_t> source_shape;  ///< the caller's; empty: nothing is transformed
  /// One per dimension: as many rows as the prepared dimension is long, of source_shape[d] columns,
  /// row-major; empty where the dimension stays as it is.
  std::vector<std::vector<double>> matrices;

  /// The shape of what is prepared.
  std::vector<int64_t> Shape() const;
  /// Row-major elements from row-major elements; for float32 and float64.
  std::vector<std::byte> Apply(DType dtype, const std::byte* source) const;
  uint64_t Hash() const;
  bool operator==(const ConstantTransform&) const = default;
};

}  // namespace bayloom::tensor
