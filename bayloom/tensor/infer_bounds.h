// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// What is known of the buffers that a stage reads.
struct KnownBounds {
  /// Per dimension of the buffer the size that bounds it or -1; empty: none does.
  std::function<const std::vector<BufferId>&(BufferId)> of_buffer;
  /// The size that an expression is, or -1.
  std::function<BufferId(const Expr&)> size_of;
};

/// Gives iterators of the stage that have no bound one where it follows from the value: a spatial
/// one if what lies beyond depends on what lies beyond the bound of an operand's dimension, one of a
/// reduction if what lies beyond is neutral (ReduceWithin).
void InferBounds(const KnownBounds& known, Stage& stage);

}  // namespace bayloom::tensor
