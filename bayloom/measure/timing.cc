// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/timing.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bayloom::measure {
namespace {

/// A cold first run takes longer than a warm one, but not this many times longer ...
constexpr double kColdFactor = 2.5;
/// ... unless it is short: threads have to start.
constexpr double kStartUpSeconds = 5e-3;
/// Runs longer than this are warm after one.
constexpr double kLongSeconds = 20e-3;

}  // namespace

double Quantile(std::span<const double> values, double q) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Timing Summarize(std::span<const double> values) {
  Timing timing;
  timing.seconds = Quantile(values, 0.5);
  const double range = Quantile(values, 0.75) - Quantile(values, 0.25);
  timing.spread = timing.seconds > 0 ? range / timing.seconds : 0;
  return timing;
}

Timing TimeBatches(double first_seconds, double cut_seconds,
                   const std::function<double(int64_t count)>& run_batch,
                   const TimingOptions& options) {
  Timing timing;
  const auto time_batch = [&](int64_t count) {
    timing.runs += count;
    return run_batch(count) / static_cast<double>(count);
  };
  timing.seconds = first_seconds;
  timing.cut_short = true;
  if (first_seconds > kColdFactor * cut_seconds && first_seconds > kStartUpSeconds) return timing;

  const int warm_ups = first_seconds > kLongSeconds ? 1 : 2;
  for (int i = 0; i < warm_ups && timing.seconds > cut_seconds; ++i) {
    timing.seconds = std::min(timing.seconds, time_batch(1));
  }
  if (timing.seconds > cut_seconds) return timing;

  const double estimate = std::max(time_batch(1), 1e-9);
  const int64_t fitting = std::llround(std::ceil(options.min_batch_seconds / estimate));
  const int64_t count = options.flush_cache ? 1 : std::max<int64_t>(1, fitting);
  std::vector<double> batches;
  double total = 0;
  if (count == 1) {
    batches.push_back(estimate);
    total = estimate;
  }
  while (batches.empty() || (total < options.max_total_seconds &&
                             (total < options.min_total_seconds ||
                              static_cast<int>(batches.size()) < options.min_batches))) {
    batches.push_back(time_batch(count));
    total += batches.back() * static_cast<double>(count);
  }
  const int64_t runs = timing.runs;
  timing = Summarize(batches);
  timing.runs = runs;
  return timing;
}

Timing TimeRuns(double first_seconds, double cut_seconds, const std::function<void()>& run,
                const std::function<double()>& now, const std::function<void()>& flush,
                const TimingOptions& options) {
  const auto run_batch = [&](int64_t count) {
    if (options.flush_cache) flush();
    const double start = now();
    for (int64_t i = 0; i < count; ++i) run();
    return now() - start;
  };
  return TimeBatches(first_seconds, cut_seconds, run_batch, options);
}

}  // namespace bayloom::measure
