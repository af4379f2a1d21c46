// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// The loops of a block's own nest, one per iterator and in their order.
struct LoopsByKind {
  std::vector<tensor::LoopVar> spatial, reduction;
};

/// For blocks that are untransformed, or have been but placed within other loops.
Result<LoopsByKind> OwnLoopsByKind(tensor::Schedule& schedule, tensor::BlockVar block);

}  // namespace bayloom::sketch
