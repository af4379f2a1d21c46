// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/tensor/primitives/region.h"

namespace bayloom::tensor {

/// How a block that moves is going to be iterated at its new place: a nest of one loop per
/// iterator, in their order.
struct Placement {
  /// iterator = base + sum of stride * fresh digit.
  struct NewIter {
    struct Digit {
      int64_t extent;
      int64_t stride;
    };
    Affine base;
    std::vector<Digit> digits;  ///< slowest first
  };
  Place place;
  std::vector<NewIter> iters;
};

/// An iterator that runs through a span.
Placement::NewIter IterOver(const Span& span);
/// What the iterators run through, relative to the place.
std::vector<Span> SpansOf(const Placement& placement);
/// Takes a block from its nest and builds the new one.
void MoveBlock(Program& program, BlockId block, const Placement& placement);
/// Builds the nest around a block that is not yet in the tree.
void PlaceBlock(Program& program, BlockId block, const Placement& placement);

/// Refuses places inside a vectorized loop.
Status CheckMayContainLoops(const Program& program, NodeRef place);

/// What ComputeAt is going to do.
Result<Placement> PlanComputeAt(const Program& program, BlockId block, LoopId loop);

}  // namespace bayloom::tensor
