// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/tensor/expr.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// Simplifies the integer arithmetic of an expression with what is known about its iterators'
/// ranges: quotients and remainders of what stays within one period, minima, maxima and
/// comparisons whose outcome is certain.
///
///     (i * 64 + j) // 64  is  i         for j < 64
///     i // 8 * 8 + i % 8  is  i
///     0 <= i and i < 10   is  i < 10
///
/// Data movement that was split over several stages (reshape, transpose) so becomes one plain
/// index again when the stages are inlined.
Expr Simplify(const Expr& e, const std::vector<Iter>& iters);

}  // namespace bayloom::tensor
