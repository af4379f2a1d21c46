// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/scheduling/task_scheduler.h"
#include "benchmarks/scheduling/recorded_network.h"

namespace bayloom {

/// Which recording stands for each task.
using Draw = std::vector<const RecordedCurve*>;

/// One of the recordings for each task, at random.
Draw DrawCurves(const RecordedNetwork& network, uint64_t seed);

/// What a scheduler achieved: latency of the network after every slot.
struct ReplayedRun {
  struct Point {
    int64_t trials = 0;
    double tuning_seconds = 0;  ///< recorded; what the scheduler itself took is not in it
    double latency = 0;         ///< tasks without a slot count with their first program
    int task = -1;
    /// What kForecastSeconds more were expected to gain, as a share of the latency; nullopt while
    /// nothing could be said or if it was not asked for.
    std::optional<double> forecast = {};
  };
  static constexpr double kForecastSeconds = 60;

  std::vector<Point> points;  ///< the first before any slot
  double scheduler_seconds = 0;

  /// The first point at or below the latency; null if there is none.
  const Point* Reaching(double latency) const;
  double MeanLatency() const;          ///< over the slots
  double MeanLatencyOverTime() const;  ///< over the seconds of the tuning
};

/// Tunes from the records: `max_trials` in slots of `options.trials_per_slot`. `with_forecasts`: of
/// the gain, after every slot.
ReplayedRun Replay(const RecordedNetwork& network, const Draw& draw, const std::string& scheduler,
                   const scheduling::TaskSchedulerOptions& options, bool with_forecasts = false);

}  // namespace bayloom
