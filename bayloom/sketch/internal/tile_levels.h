// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <vector>

#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// Splits the block's loops (one per iterator, in a chain) into their tile levels and orders them
/// S S R S R S. The first `batch` iterators, with which all operands move, stay whole in the
/// outermost level: tiling them reuses nothing. Returns the last loop of each of the two outer
/// spatial levels.
Result<std::array<tensor::LoopVar, 2>> TileInLevels(tensor::Schedule& schedule,
                                                    tensor::BlockVar block,
                                                    const std::vector<tensor::LoopVar>& loops,
                                                    size_t batch = 0);

}  // namespace bayloom::sketch
