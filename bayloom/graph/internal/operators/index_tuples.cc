// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/internal/operators/index_tuples.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/internal/operators/helpers.h"

namespace bayloom::graph {

IndexTuples CheckTuples(OperatorContext& context, const tensor::Tensor& x,
                        const tensor::Tensor& indices, int64_t batch) {
  if (Rank(indices) < 1 || batch < 0 || batch >= std::min(Rank(x), Rank(indices))) {
    context.Refuse("indices and data do not fit together");
  }
  const int64_t depth = indices.shape().back();
  if (batch + depth > Rank(x) || depth < 1) {
    context.Refuse(fmt::format("index tuples of {} for {} dimensions", depth, Rank(x)));
  }
  if (!std::equal(x.shape().begin(), x.shape().begin() + batch, indices.shape().begin())) {
    context.Refuse("indices and data differ in their batch axes");
  }
  return {static_cast<int>(batch), static_cast<int>(depth), Rank(indices) - 1};
}

}  // namespace bayloom::graph
