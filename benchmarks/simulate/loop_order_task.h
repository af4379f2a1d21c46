// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/space/parameter.h"
#include "benchmarks/simulate/simulation.h"

namespace bayloom {

/// A tiled product of two matrices with `extent` rows and columns on an imagined core, as the
/// recorded spaces have no permutation: three tile sizes, the order of the six loops (a tile's
/// loops inside the loop over tiles, known constraints), an unroll factor, and register pressure
/// that the search is not told.
///
/// The time is a count: lines that move into two levels of cache, by how much of the loop nest's
/// footprint fits into each (after Wolf and Lam 1991), and instructions, by the innermost loop.
RecordedTask MakeLoopOrderTask(space::PermutationMetric metric, int extent = 512);

}  // namespace bayloom
