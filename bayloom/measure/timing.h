// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bayloom::measure {

/// How long to time a candidate for.
struct TimingOptions {
  /// Runs are timed together until they take this long, so that the clock's resolution and its
  /// reading do not show.
  double min_batch_seconds = 200e-6;
  /// Batches are taken until all of them together take this long ...
  double min_total_seconds = 0.03;
  /// ... and there are this many for the median to be robust ...
  int min_batches = 5;
  /// ... but no longer than this.
  double max_total_seconds = 0.5;
  /// Empties the caches before every run; then a batch is one run.
  bool flush_cache = false;
  /// Something has to be prepared before every run; a batch is one run then, too.
  bool single_runs = false;
};

struct Timing {
  double seconds = 0;  ///< per run: the median over batches
  double spread = 0;   ///< interquartile range over median
  bool cut_short = false;
  int64_t runs = 0;  ///< timed ones
  /// Seconds per run of each batch, in their order; empty when cut short.
  std::vector<double> batches = {};
};

/// Median and relative interquartile range of the values; there are some.
Timing Summarize(std::span<const double> values);

/// Times batches of runs of what has been run once before, taking `first_seconds` with cold caches.
/// `time_batch` carries out so many runs and returns the seconds of all of them. Cut short when the
/// first run, or those that warm up, already say that the candidate takes more than `cut_seconds`;
/// then `seconds` is the shortest run seen.
Timing TimeBatches(double first_seconds, double cut_seconds,
                   const std::function<double(int64_t count)>& time_batch,
                   const TimingOptions& options);

/// The same for runs on this processor. `now` is a clock in seconds; `flush` is called before every
/// run if the options say so.
Timing TimeRuns(double first_seconds, double cut_seconds, const std::function<void()>& run,
                const std::function<double()>& now, const std::function<void()>& flush,
                const TimingOptions& options);

}  // namespace bayloom::measure
