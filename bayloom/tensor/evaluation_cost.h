// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>

#include "bayloom/tensor/expr.h"

namespace bayloom::tensor {

/// What a transcendental function (IsTranscendental) counts for in EvaluationCost.
inline constexpr int64_t kTranscendentalCost = 64;

/// Inlining makes no expression that costs more than this to evaluate. Ordinary networks stay far
/// below; a chain of x * sigmoid(x) would double with every step.
inline constexpr int64_t kMaxInlinedCost = 1024;

/// The cost of evaluating an expression once: kTranscendentalCost for each transcendental function
/// and 1 for every other node, index arithmetic included. Parts that are shared count as often as
/// they are used, so the size of an expression is at most its cost.
int64_t EvaluationCost(const Expr& e);

/// The cost of `reader` once each of its loads of `buffer` has become `value`, in which iterator i
/// is the load's index number d where iter_of_dimension[d] is i. No less than kMaxInlinedCost + 1
/// where it is more than that. Nothing is built.
int64_t CostAfterInlining(const Expr& reader, BufferId buffer, const Expr& value,
                          std::span<const int> iter_of_dimension);

/// How often an expression loads a buffer.
int64_t CountLoads(const Expr& e, BufferId buffer);

}  // namespace bayloom::tensor
