// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/index_tuples.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/operators/helpers.h"

namespace bayloom::graph {

namespace {

void CheckIndex(OperatorContext& context, int input, int64_t index, int64_t extent) {
  if (index >= -extent && index < extent) return;
  context.Refuse(
      fmt::format("index {} in input {} lies outside of an extent of {}", index, input, extent));
}

}  // namespace

void CheckKnownIndices(OperatorContext& context, int input, int64_t extent) {
  const tensor::HostTensor* known = context.ConstantInput(input);
  for (int64_t i = 0; known && i < known->ElementCount(); ++i) {
    CheckIndex(context, input, known->GetInt(i), extent);
  }
}

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
  const tensor::HostTensor* known = context.ConstantInput(1);
  for (int64_t i = 0; known && i < known->ElementCount(); ++i) {
    CheckIndex(context, 1, known->GetInt(i), x.shape()[batch + i % depth]);
  }
  return {static_cast<int>(batch), static_cast<int>(depth), Rank(indices) - 1};
}

}  // namespace bayloom::graph
