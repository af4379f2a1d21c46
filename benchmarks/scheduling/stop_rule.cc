// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/scheduling/stop_rule.h"

namespace bayloom {
namespace {

/// The latency at a moment of the tuning.
double LatencyAt(const ReplayedRun& run, double seconds) {
  double latency = run.points.front().latency;
  for (const ReplayedRun::Point& point : run.points) {
    if (point.tuning_seconds > seconds) break;
    latency = point.latency;
  }
  return latency;
}

}  // namespace

RuledStop StopByGain(const ReplayedRun& run, double rate) {
  const ReplayedRun::Point& last = run.points.back();
  RuledStop stop;
  for (const ReplayedRun::Point& point : run.points) {
    if (!point.forecast || *point.forecast >= rate) continue;
    stop.ruled = true;
    stop.share_of_trials = static_cast<double>(point.trials) / static_cast<double>(last.trials);
    stop.share_of_seconds = point.tuning_seconds / last.tuning_seconds;
    stop.excess = point.latency / last.latency - 1;
    stop.expected = *point.forecast;
    const double later = LatencyAt(run, point.tuning_seconds + ReplayedRun::kForecastSeconds);
    stop.found = 1 - later / point.latency;
    break;
  }
  return stop;
}

}  // namespace bayloom
