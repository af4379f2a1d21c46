// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/phases.h"

#include <utility>

namespace bayloom::graph {

Phases::Phases(std::vector<int64_t> by, const std::vector<int64_t>& low,
               std::vector<int64_t> extents)
    : strides(std::move(by)), wanted(std::move(extents)) {
  for (size_t d = 0; d < strides.size(); ++d) {
    first.push_back(low[d] / strides[d]);
    counts.push_back((low[d] + wanted[d] - 1) / strides[d] - first[d] + 1);
    cut.push_back(low[d] - first[d] * strides[d]);
  }
}

tensor::Tensor SideBySide(OperatorContext& context, const tensor::Tensor& y, const Phases& phases,
                          int64_t groups, int64_t channels) {
  const int64_t batch = y.shape()[0];
  const int rank = static_cast<int>(phases.rank());
  std::vector<int64_t> apart = {batch, groups}, together = {batch, groups * channels};
  apart.insert(apart.end(), phases.strides.begin(), phases.strides.end());
  apart.push_back(channels);
  apart.insert(apart.end(), phases.counts.begin(), phases.counts.end());
  std::vector<int> order = {0, 1, rank + 2};
  std::vector<int64_t> low = {0, 0}, high = {0, 0};
  for (int d = 0; d < rank; ++d) {
    order.insert(order.end(), {rank + 3 + d, d + 2});
    together.push_back(phases.counts[d] * phases.strides[d]);
    low.push_back(-phases.cut[d]);
    high.push_back(phases.wanted[d] + phases.cut[d] - together.back());
  }
  const tensor::Tensor side_by_side = Permute(context, context.builder().View(y, apart), order);
  return PadWith(context, context.builder().View(side_by_side, together), low, high,
                 tensor::Literal(0, y.dtype()));
}

}  // namespace bayloom::graph
