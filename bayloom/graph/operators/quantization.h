#pragma once

#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom {

/// The quantized tensor as int32 minus its zero point, which is input number `zero_point`
/// (optional): a scalar, or one element per slice of `axis`.
Tensor WithoutZeroPoint(OperatorContext& context, const Tensor& x, int zero_point, int axis);

/// An int32 result back to 8 bits: times the product of the scales (input numbers), over the
/// output's scale, rounded to even, plus the output's zero point, saturated. Scales with more
/// than one element belong to slices of `axis`.
Tensor Requantize(OperatorContext& context, const Tensor& y, const std::vector<int>& scales,
                  int y_scale, int y_zero_point, int axis);

}  // namespace bayloom
