// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "benchmarks/scheduling/replay.h"

namespace bayloom {

/// Where a tuning would have ended that is stopped when the next minute is expected to gain less
/// than a rate, and what that cost.
struct RuledStop {
  double share_of_trials = 1;   ///< of those that were recorded
  double share_of_seconds = 1;  ///< of the tuning
  double excess = 0;            ///< latency over the one at the end of the recording, minus 1
  double expected = 0;          ///< gain of the next minute, a share of the latency
  double found = 0;             ///< what the next minute did gain
  bool ruled = false;           ///< false: the recording ended before
};

/// `rate`: share of the latency, a minute.
RuledStop StopByGain(const ReplayedRun& run, double rate);

}  // namespace bayloom
