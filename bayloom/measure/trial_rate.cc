#include "bayloom/measure/trial_rate.h"

namespace bayloom {

double TrialsPerSecond(const MachineModel& machine, int build_threads,
                       const TimingOptions& timing) {
  constexpr double kPreparing = 1.3;  // warm-up, first run and check of the output, by timing
  return 1 / (machine.compile / build_threads + kPreparing * timing.min_total_seconds);
}

}  // namespace bayloom
