// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "benchmarks/strategies/tuning_run.h"

namespace bayloom {

/// One strategy beside a reference strategy, on one subject, over the seeds of both.
struct Comparison {
  std::string subject, strategy;
  double seconds = 0;  ///< geometric mean of the final latencies
  double ratio = 0;    ///< that of the reference over it: above 1 it is faster
  /// Medians over the seeds: the trials it needs to the reference's final latency, and those the
  /// reference needs to its. Above the runs' trials if not reached.
  double trials_to_reference = 0, reference_trials = 0;
  double strategy_share = 0, refused = 0, rmse = 0, score = 0;  ///< means over the seeds
};

/// One a strategy, in order of appearance. All runs are of one subject.
std::vector<Comparison> Compare(const std::vector<TuningRun>& runs, const std::string& reference);

}  // namespace bayloom
