// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// Where windows of a convolution or pool lie, one entry per spatial axis.
struct Windows {
  std::vector<int64_t> kernel, strides, dilations, pads_low, pads_high;
  std::vector<int64_t> counts;  ///< windows along each axis

  int rank() const { return static_cast<int>(kernel.size()); }
  /// Input positions that the window covers, holes of dilation included.
  int64_t Reach(int d) const { return (kernel[d] - 1) * dilations[d] + 1; }
};

/// Reads strides, dilations, pads, auto_pad and ceil_mode, and checks them against the input's
/// shape [batch, channels, positions...].
Windows ReadWindows(OperatorContext& context, const std::vector<int64_t>& input_shape,
                    std::vector<int64_t> kernel);

/// The input with the windows' padding applied, as far as windows read it.
tensor::Tensor PadForWindows(OperatorContext& context, const tensor::Tensor& x,
                             const Windows& windows, const tensor::Expr& fill);

/// The positions that term `over` of window `place` reads along the spatial axes; `place` and
/// `over` hold those axes' iterators only.
Exprs WindowPositions(const Windows& windows, const Exprs& place, const Exprs& over);

/// Reduction axes over the window: kh and kw, or "k0", "k1", ...
std::vector<GraphBuilder::Axis> WindowAxes(const Windows& windows);

}  // namespace bayloom::graph
