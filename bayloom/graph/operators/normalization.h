// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

struct RmsNormalized {
  tensor::Tensor y;
  tensor::Tensor inverse;  ///< 1 / root mean square, float32; the normalized axes are 1
};

/// x / sqrt(mean(x^2) + epsilon) * scale, the mean over the axes from `axis` on. Computed in
/// float32 at least.
RmsNormalized RmsNormalize(OperatorContext& context, const tensor::Tensor& x,
                           const tensor::Tensor& scale, int axis, double epsilon);

/// Normalizes each group of channels of [batch, channels, ...] by its mean and variance. `scale`
/// and `bias` have one element per channel, or per group.
tensor::Tensor GroupNormalize(OperatorContext& context, const tensor::Tensor& x,
                              const tensor::Tensor& scale, const tensor::Tensor& bias,
                              int64_t groups, double epsilon);

}  // namespace bayloom::graph
