// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/plan/cpu/accumulator_plan.h"

namespace bayloom::plan {

/// The elementwise consumer of a reduction, computed on a tile's registers when the reduction is
/// done: what the schedule hands over in an intermediate buffer then never reaches memory.
struct TileEpilogue {
  tensor::BlockId id = -1;  ///< the consumer
  tensor::NodeRef nest;  ///< its loops, which are left out: the tile's positions take their place
  tensor::Block block;   ///< the consumer, its iterators bound to the digits of the tile
  BlockAccesses accesses;
};

/// The epilogue of a tile, if the nest of its only consumer follows right after it and covers
/// just what it computes.
std::optional<TileEpilogue> PlanEpilogue(const tensor::Program& program, const MemoryPlan& memory,
                                         const AccumulatorTile& tile);

}  // namespace bayloom::plan
