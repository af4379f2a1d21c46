// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/measure/runner.h"
#include "bayloom/measure/timing.h"

namespace bayloom::measure {

/// How kernels are run, checked and timed.
struct KernelOptions {
  RunnerOptions runner;
  TimingOptions timing;
  /// Of programs for GPUs, whose clock differs by half a percent between runs.
  TimingOptions gpu_timing = {.min_batch_seconds = 1e-3, .min_total_seconds = 8e-3};
  /// Of repeats: several, in turns, share the time of one trial.
  TimingOptions repeat_timing = {.min_total_seconds = 0.01, .min_batches = 3};
  double repeat_cut_factor = 10;  ///< as cut_factor
  /// A candidate that takes more than this many times as long as the best known is not timed in
  /// full: it is run once or twice (MeasurementDetails::cut_short). 0 never cuts.
  double cut_factor = 3;
  /// After so many trials of a task its incumbent is timed again, to see the machine's drift.
  int drift_interval = 32;
  uint64_t data_seed = 1;
  /// Shared memory that may be spent on keeping tasks' data for when they are measured next.
  int64_t kept_data_bytes = int64_t{2} << 30;
};

/// The same without timing: each kernel is run twice, from different contents of its outputs.
KernelOptions WithoutTiming(KernelOptions options);

}  // namespace bayloom::measure
