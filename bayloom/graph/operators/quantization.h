// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// The quantized tensor as int32 minus its zero point, which is input number `zero_point`
/// (optional): a scalar, or one element per slice of `axis`.
tensor::Tensor WithoutZeroPoint(OperatorContext& context, const tensor::Tensor& x, int zero_point,
                                int axis);

/// An int32 result back to 8 bits: times the product of the scales (input numbers), over the
/// output's scale, rounded to even, plus the output's zero point, saturated. Scales with more
/// than one element belong to slices of `axis`.
tensor::Tensor Requantize(OperatorContext& context, const tensor::Tensor& y,
                          const std::vector<int>& scales, int y_scale, int y_zero_point, int axis);

}  // namespace bayloom::graph
