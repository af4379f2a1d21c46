// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/resize_rules.h"

namespace bayloom::graph {

/// One axis of a resize: output coordinate to input coordinate.
struct AxisMap {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_start = 0, roi_end = 1;
  bool is_by_size = false;  ///< the scale is the ratio of the extents
  /// Where they are known when the network runs: the scale, and the region.
  tensor::Expr found_scale = {}, found_start = {}, found_end = {};

  bool IsFound() const { return found_scale.defined() || found_start.defined(); }
  bool Unchanged() const { return !IsFound() && in == out && scale == 1; }

  ResizedAxis<double> Numbers() const {
    return {static_cast<double>(in), static_cast<double>(out), scale, roi_start, roi_end};
  }
  /// What the network computes.
  ResizedAxis<tensor::Expr> Expressions() const {
    const auto of = [](int64_t extent) {
      return tensor::Cast(tensor::DType::kFloat64, tensor::Expr(extent));
    };
    const auto one_of = [](const tensor::Expr& found, double known) {
      return found.defined() ? found : NumberOf<tensor::Expr>(known);
    };
    return {of(in), of(out), is_by_size ? of(out) / of(in) : one_of(found_scale, scale),
            one_of(found_start, roi_start), one_of(found_end, roi_end)};
  }
};

struct ResizeModes {
  std::string mode, coordinates, nearest;
  bool antialias = false;  ///< filters what is made smaller
};

/// Where along an axis output elements take their input from, and with which weights, as what a
/// network computes: from extents, which may have another ratio for other lengths, or from scales
/// that are known when it runs.
struct ComputedTaps {
  int taps = 1;
  tensor::Tensor index;   ///< [output] for one tap, else [output, taps]
  tensor::Tensor weight;  ///< [output, taps], for several taps
};

/// Nullopt where tables are known, or cannot be computed: of extents those of nearest and linear
/// resizing can.
std::optional<ComputedTaps> ComputeTaps(OperatorContext& context, const AxisMap& axis,
                                        const ResizeModes& modes, tensor::DType dtype);

/// The input coordinate of an axis whose scale or region is known when the network runs.
tensor::Expr FoundCoordinate(const AxisMap& axis, const ResizeModes& modes,
                             const tensor::Expr& place);

}  // namespace bayloom::graph
