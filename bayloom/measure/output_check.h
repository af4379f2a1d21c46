// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/tensor/comparison.h"
#include "bayloom/tensor/dtype.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// How far two ways of computing a workload may differ: relative to the element or, if that is
/// larger, to the root mean square of its tensor; or, by another algorithm, to the tensor's largest
/// element. The share of outliers is nonzero where rounding
/// decides between values far apart (floor, comparisons of computed numbers).
using tensor::Tolerance;

/// The tolerance for reordered floating-point arithmetic. Errors of a sum of n terms grow like
/// sqrt(n) units in the last place (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
/// sec. 2.8); a constant allows for short polynomials in place of the mathematical library.
/// The absolute part is the least normal number of the type: what underflows differs by that much.
/// Where a derivation can compute the workload, errors that it is allowed to have are tolerated.
/// Workloads without floats are exact.
Tolerance ToleranceOf(const tensor::Workload& workload);

/// The byte that outputs are filled with before a run: a NaN in every float type.
constexpr std::byte kPoison{0xff};

/// Fails where `actual` is wrong, saying where and how it differs. NaN equals NaN, infinities equal
/// themselves.
Status CheckOutput(const std::string& name, tensor::DType dtype, const std::byte* actual,
                   const std::byte* expected, int64_t count, const Tolerance& tolerance);

}  // namespace bayloom::measure
