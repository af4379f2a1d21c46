// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/internal/operators/operator.h"

namespace bayloom::graph {

/// Index tuples: the last axis of `indices` holds positions in axes [batch, batch + depth) of x.
struct IndexTuples {
  int batch = 0, depth = 0, outer = 0;
};
/// Refuses indices that do not fit x.
IndexTuples CheckTuples(OperatorContext& context, const tensor::Tensor& x,
                        const tensor::Tensor& indices, int64_t batch);

}  // namespace bayloom::graph
