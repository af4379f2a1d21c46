// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// A reduction's value that is neutral where the iterator is beyond the bound. Of a sum of products
/// it is the factors that are zero there: what lies beyond may be no number, which no product with
/// zero makes one. `size` is what the bound's size is in the expression (SizeOf).
Expr ReduceWithin(Reduction reduction, const Expr& value, int iter, Expr size, int64_t step = 1);
/// What the expression, the value of a reduction or a factor of it, is within the bounds of the
/// open ones among the iterators: without what ReduceWithin has added.
const Expr& WithoutMasks(const Expr& e, const std::vector<Iter>& iters);

/// What is known of the buffers that a stage reads.
struct KnownBounds {
  /// Per dimension of the buffer; empty: none is open.
  std::function<const std::vector<Bound>&(BufferId)> of_buffer;
  /// The size that an expression of sizes is, or -1.
  std::function<BufferId(const Expr&)> size_of;
};

/// Gives iterators of the stage that have no bound one where it follows from the value: a spatial
/// one if what lies beyond depends on what lies beyond the bound of an operand's dimension, one of
/// a reduction if what lies beyond is neutral.
void InferBounds(const KnownBounds& known, Stage& stage);

}  // namespace bayloom::tensor
