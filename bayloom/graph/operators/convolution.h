// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// The convolution that the node's attributes describe, products as WideProduct; `fill` pads the
/// image.
tensor::Tensor Convolve(OperatorContext& context, const tensor::Tensor& x,
                        const tensor::Tensor& weights, const tensor::Expr& fill);

}  // namespace bayloom::graph
