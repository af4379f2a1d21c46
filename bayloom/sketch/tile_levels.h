// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <optional>
#include <vector>

#include "bayloom/sketch/analysis.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// How a block's loops are cut into tile levels.
struct LevelTiling {
  /// The first iterators, with which all operands move, stay whole in the outermost level: tiling
  /// them reuses nothing.
  size_t batch = 0;
  /// Another iterator that stays whole there; -1: none.
  int whole = -1;
  /// Tiles overlap where the extent has no good divisors (overlapping_tiles.h). What stores the
  /// block's result must be computed at one of the two outer spatial levels.
  bool overlap = false;
  /// What an instruction for dot products sums up at once is split off and tensorized.
  std::optional<DotAxis> dot = {};
};

/// Splits the block's loops (one per iterator, in a chain) into their tile levels and orders them
/// S S R S R S; what an instruction sums up at once goes between the last two. Returns the last
/// loop of each of the two outer spatial levels.
Result<std::array<tensor::LoopVar, 2>> TileInLevels(tensor::Schedule& schedule,
                                                    tensor::BlockVar block,
                                                    std::vector<tensor::LoopVar> loops,
                                                    const LevelTiling& tiling = {});

/// Splits a loop into nested loops, whose extents are left open; the innermost is at most
/// `max_innermost` long.
Result<std::vector<tensor::LoopVar>> TilePerfectly(tensor::Schedule& schedule, tensor::LoopVar loop,
                                                   int parts, int64_t max_innermost);

/// Cuts a loop into tiles, whose size is left open: the loop over them, and the one within a tile.
/// They overlap where the extent has no good divisors; otherwise they are `max_size` long at most.
Result<std::array<tensor::LoopVar, 2>> CutIntoTiles(tensor::Schedule& schedule,
                                                    tensor::LoopVar loop, int64_t max_size);

}  // namespace bayloom::sketch
