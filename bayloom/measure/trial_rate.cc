// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/trial_rate.h"

namespace bayloom::measure {

double TrialsPerSecond(const target::MachineModel& machine, int build_threads,
                       const TimingOptions& timing) {
  constexpr double kPreparing = 1.3;  // warm-up, first run and check of the output, by timing
  return 1 / (machine.compile / build_threads + kPreparing * timing.min_total_seconds);
}

}  // namespace bayloom::measure
