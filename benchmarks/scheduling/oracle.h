// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "benchmarks/scheduling/replay.h"

namespace bayloom {

/// A latency that no schedule can beat after 0, 1, ..., `slots` slots, computed in hindsight: every
/// task's cost over its slots is replaced by its lower convex hull, on which taking the steepest
/// step first is optimal. Where the hulls' corners meet it is an actual schedule.
std::vector<double> OracleLatencies(const RecordedNetwork& network, const Draw& draw,
                                    int trials_per_slot, int slots);

}  // namespace bayloom
