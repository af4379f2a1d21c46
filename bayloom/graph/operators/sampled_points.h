// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

enum class SamplingMode : uint8_t { kNearest, kLinear, kCubic };
/// What lies beyond an image: zeros, the border's elements, or the image mirrored.
enum class SamplingPadding : uint8_t { kZeros, kBorder, kReflection };

/// How images are read between their elements.
struct Sampling {
  SamplingMode mode = SamplingMode::kLinear;
  SamplingPadding padding = SamplingPadding::kZeros;
  /// Mirrors are at the centres of the border's elements, not at their outer edges.
  bool align_corners = false;
};

/// x limited to [low, high]; NaN becomes low, so that it can be an index.
tensor::Expr Bounded(const tensor::Expr& x, double low, double high);

/// A coordinate along an axis of `extent` elements as InterpolateAt takes it: rounded, clamped or
/// mirrored as the sampling says, and finite.
tensor::Expr SamplingPosition(const tensor::Expr& x, int64_t extent, const Sampling& sampling);

/// The value of x[outer..., positions...], one float position from SamplingPosition for each of
/// the last axes. Weights have the positions' type, the result that of `x`.
tensor::Expr InterpolateAt(const tensor::Tensor& x, const Exprs& outer, const Exprs& positions,
                           const Sampling& sampling);

}  // namespace bayloom::graph
