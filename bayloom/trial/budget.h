// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "bayloom/base/clock.h"

namespace bayloom::trial {

/// Why a run ended.
enum class StopReason : uint8_t {
  kTrials,     ///< its trials are used up
  kTime,       ///< its time is used up
  kExhausted,  ///< no task has anything left to try
  kConverged,  ///< no improvement for as long as was asked for
  kStopped,    ///< it was asked to stop
  kLost,       ///< trials cannot be carried out
  kGain,       ///< more of it is expected to gain less than was asked for
  kGaveUp,     ///< nothing else to try was found with bounded effort; there may be more
  kTarget,     ///< what was found is as good as was asked for
};

/// "trials", "time", "exhausted", "converged", "stopped", "lost",
/// "gain", "gave-up", "target".
std::string_view ToString(StopReason reason);
/// The same for people: "all trials done", "time is up", ...
std::string_view Describe(StopReason reason);

/// Whether the run ended before its budget and its tasks did, so that resuming it goes on with the
/// same budget: it was stopped, its trials were lost, or it gave up, after which other random
/// choices may find more.
bool CanResume(StopReason reason);

/// What a run may spend. What it spent before it was resumed counts.
struct Budget {
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  int64_t trials = kUnlimited;
  double seconds = std::numeric_limits<double>::infinity();  ///< of wall-clock time
  /// Asked often and from the run's thread only; once true, the run ends within a second.
  std::function<bool()> stop = [] { return false; };
  std::function<double()> clock = base::MonotonicSeconds;  ///< seconds
};

}  // namespace bayloom::trial
