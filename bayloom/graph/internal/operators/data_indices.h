// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/internal/operators/operator.h"

namespace bayloom::graph {

// Indices that are data. Those out of range, which ONNX leaves undefined, are clamped: a compiled
// program never reads or writes outside its tensors.

/// A data-dependent index: negative ones count from the end.
tensor::Expr WrappedIndex(const tensor::Expr& index, int64_t extent);

/// Index tuples: the last axis of `indices` holds positions in axes [batch, batch + depth) of x.
struct IndexTuples {
  int batch = 0, depth = 0, outer = 0;
};
/// Refuses indices that do not fit x.
IndexTuples CheckTuples(OperatorContext& context, const tensor::Tensor& x,
                        const tensor::Tensor& indices, int64_t batch);

}  // namespace bayloom::graph
