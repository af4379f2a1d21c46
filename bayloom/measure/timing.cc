// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/timing.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bayloom/base/quantile.h"

namespace bayloom::measure {
namespace {

/// A cold first run takes longer than a warm one, but not this many times longer ...
constexpr double kColdFactor = 2.5;
/// ... unless it is short: threads have to start.
constexpr double kStartUpSeconds = 5e-3;
/// Runs longer than this are warm after one.
constexpr double kLongSeconds = 20e-3;
/// Whether a candidate is cut short is seen in batches of about so long.
constexpr double kWarmSeconds = 100e-6;
/// Batches take this part of the time they should, or become longer, so many times at most.
constexpr double kMinPart = 0.7;
constexpr int kMaxGrowths = 4;

}  // namespace

Timing Summarize(std::span<const double> values) {
  Timing timing;
  timing.seconds = base::Median(values);
  const double range = base::Quantile(values, 0.75) - base::Quantile(values, 0.25);
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

  // A single run takes what beginning a batch costs, too, which is several runs of a short kernel.
  const auto fitting = [&](double seconds, double run_seconds) {
    const double runs = std::ceil(seconds / std::max(run_seconds, 1e-9));
    return options.flush_cache || options.single_runs ? 1
                                                      : std::max<int64_t>(1, std::llround(runs));
  };
  const int warm_ups = first_seconds > kLongSeconds ? 1 : 2;
  for (int i = 0; i < warm_ups && timing.seconds > cut_seconds; ++i) {
    timing.seconds = std::min(timing.seconds, time_batch(fitting(kWarmSeconds, timing.seconds)));
  }
  if (timing.seconds > cut_seconds) return timing;

  std::vector<double> batches;
  double total = 0;
  int64_t count = 1;
  for (int tries = 0; tries < kMaxGrowths; ++tries) {
    const double run_seconds = time_batch(count);
    const double seconds = run_seconds * static_cast<double>(count);
    const int64_t next = fitting(options.min_batch_seconds, run_seconds);
    if (next == 1 || (count > 1 && seconds >= kMinPart * options.min_batch_seconds)) {
      batches.push_back(run_seconds);
      total = seconds;
      break;
    }
    count = next;
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
  timing.batches = std::move(batches);
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
