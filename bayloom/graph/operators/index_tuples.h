// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/graph/operators/operator.h"

namespace bayloom::graph {

/// Refuses data that are known, of input `input`, if one of them is no place of `extent` elements,
/// counted from either end. (What is known at run time only is clamped.)
void CheckKnownIndices(OperatorContext& context, int input, int64_t extent);

/// Index tuples: the last axis of `indices` holds positions in axes [batch, batch + depth) of x.
struct IndexTuples {
  int batch = 0, depth = 0, outer = 0;
};
/// Refuses indices, which are input 1, that do not fit x.
IndexTuples CheckTuples(OperatorContext& context, const tensor::Tensor& x,
                        const tensor::Tensor& indices, int64_t batch);

}  // namespace bayloom::graph
