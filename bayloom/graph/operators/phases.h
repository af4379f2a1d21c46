// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

/// Positions of an image by what is left of them when they are divided by the strides, one entry
/// per spatial axis. Before `cut` positions are cut off and from `first` on, position stride * q +
/// phase is number q of its phase.
struct Phases {
  /// `low`: positions before the image's first; `wanted`: the image's extents.
  Phases(std::vector<int64_t> strides, const std::vector<int64_t>& low,
         std::vector<int64_t> wanted);

  std::vector<int64_t> strides, wanted;
  std::vector<int64_t> first, counts;  ///< of q
  std::vector<int64_t> cut;

  size_t rank() const { return strides.size(); }
};

/// [batch, groups * phases * channels, counts...] as the image [batch, groups * channels,
/// positions...].
tensor::Tensor SideBySide(OperatorContext& context, const tensor::Tensor& y, const Phases& phases,
                          int64_t groups, int64_t channels);

}  // namespace bayloom::graph
