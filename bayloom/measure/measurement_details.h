// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

/// A program's time in a run with these values of its workload's sizes.
struct TimeAtSizes {
  std::vector<int64_t> sizes;
  double seconds = 0;
};

/// What is known of a kernel's measurement beside its time: named values of its Outcome, each of
/// which is left out where it says nothing.
struct MeasurementDetails {
  /// Where a program was timed with several values of its workload's sizes: the time at each; the
  /// outcome's value is their geometric mean.
  std::vector<TimeAtSizes> at_sizes = {};
  /// Interquartile range of the runs' times over their median; 0 when cut short.
  double spread = 0;
  /// Clearly slower than the best known, so that it was run once or twice only: the outcome's value
  /// is right within tens of percent.
  bool cut_short = false;
  /// How much slower the incumbent ran when last timed again than when it was first timed: what
  /// else the machine is doing now. 1 means nothing has changed.
  double drift = 1;
  double build_seconds = 0;    ///< spent on compiling
  double measure_seconds = 0;  ///< spent on running, checking and timing
  double clock_mhz = 0;        ///< of a GPU's multiprocessors; 0: unknown
  double power_watts = 0;      ///< of a GPU; 0: unknown
  // What a thread of a GPU needs, as the assembler says; 0: unknown.
  double registers = 0;
  double spill_bytes = 0;   ///< of registers that it has not
  double shared_bytes = 0;  ///< of a block of threads
  // What a program for processors needs beside its arguments; 0: nothing, or unknown.
  double code_bytes = 0;    ///< machine code and the constants that it reads
  double growth_bytes = 0;  ///< that weights take more in the form in which the program reads them
  double workspace_bytes = 0;  ///< of memory for intermediate values, of all threads
  /// Of kernels of users: seconds per run of each batch, in their order.
  std::vector<double> batches = {};
};

MeasurementDetails DetailsOf(const trial::Outcome& outcome);
/// Adds those of the details that say something.
void SetDetails(trial::Outcome& outcome, const MeasurementDetails& details);

}  // namespace bayloom::measure
