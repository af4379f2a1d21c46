// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "bayloom/tensor/dtype.h"

namespace bayloom::tensor {

/// How far a computed tensor may be from the one that is expected. Element e may deviate by
///
///     absolute + max(relative * scale, of_largest * largest),
///
/// where scale is |e|, or, `of_tensor`, the larger of |e| and the root mean square of the finite
/// elements expected, and largest is the largest magnitude of those. The absolute part is a floor
/// for elements that are zero but for rounding. Integers and bools have to be equal.
struct Tolerance {
  double relative = 0;
  /// Share of the elements that may differ by more.
  double outliers = 0;
  double absolute = 0;
  bool of_tensor = false;
  double of_largest = 0;
};

/// What a comparison has found.
struct Comparison {
  int64_t count = 0;
  int64_t wrong = 0;              ///< elements beyond the tolerance; outliers count, too
  int64_t first_wrong = -1;       ///< -1: none
  double largest_difference = 0;  ///< infinite where only one of two elements is finite
  double largest_expected = 0;    ///< the largest finite magnitude

  /// Whether there are no more wrong elements than the tolerance allows.
  bool IsWithin(const Tolerance& tolerance) const {
    return static_cast<double>(wrong) <= tolerance.outliers * static_cast<double>(count);
  }
  /// The largest difference over the largest magnitude: 0 if all is equal.
  double RelativeDifference() const;
};

/// Compares tensors of the same type as they lie in memory. NaN equals NaN, infinities equal
/// themselves.
Comparison Compare(DType dtype, const std::byte* actual, const std::byte* expected, int64_t count,
                   const Tolerance& tolerance);

}  // namespace bayloom::tensor
