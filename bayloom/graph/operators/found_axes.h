// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

// Axes that are known when the network runs: how many they are is known, which they are is not.
// The shapes of results are those that the model says, else lengths that are found.

/// Whether an input of axes is known at run time only, and has elements.
bool HasFoundAxes(OperatorContext& context, int input);

/// The axes that an input names; none if it has no elements.
std::vector<int64_t> KnownAxes(OperatorContext& context, int input);

/// Whether dimension `d` of `rank` is one of the axes, which may count from the end.
tensor::Expr IsAmong(const Exprs& axes, int64_t d, int64_t rank);

/// Combines over the axes what `term` is at each place of the shape. The result has this shape: at
/// all places along an axis the same.
tensor::Tensor ReduceFoundAxes(OperatorContext& context, const std::string& op,
                               const std::vector<int64_t>& shape, const Exprs& axes,
                               tensor::Reduction reduction,
                               const std::function<tensor::Expr(const Exprs&)>& term);

/// Output 0 of the operator: `x` with the axes of length 1, of which each has the first element.
tensor::Tensor ShortenFoundAxes(OperatorContext& context, const tensor::Tensor& x,
                                const Exprs& axes);
/// Output 0 of the operator: `x` without the axes, of which each has the first element.
tensor::Tensor SqueezeFoundAxes(OperatorContext& context, const tensor::Tensor& x,
                                const Exprs& axes);
/// Output 0 of the operator: `x` with further dimensions of length 1, which are the axes of the
/// result.
tensor::Tensor UnsqueezeFoundAxes(OperatorContext& context, const tensor::Tensor& x,
                                  const Exprs& axes);

}  // namespace bayloom::graph
