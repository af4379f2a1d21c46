// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/run_options.h"

#include "bayloom/base/duration.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/system_error.h"

namespace bayloom::cli {

bool StopSeen() {
  if (!base::StopRequested()) return false;
  base::NoticeStop();
  return true;
}

trial::Budget MakeBudget(std::optional<int64_t> trials, const std::string& time) {
  base::CatchStopSignals();
  trial::Budget budget;
  if (trials) budget.trials = *trials;
  if (!time.empty()) budget.seconds = base::ParseDuration(time, "--time");
  budget.stop = StopSeen;
  return budget;
}

std::string DescribeEnd(trial::StopReason reason) {
  const bool can_go_on =
      reason == trial::StopReason::kStopped || reason == trial::StopReason::kLost;
  return std::string(trial::Describe(reason)) + (can_go_on ? "; --resume goes on from here" : "");
}

void ThrowIfLost(trial::StopReason reason, const std::string& lost) {
  if (reason != trial::StopReason::kLost) return;
  throw SystemError("trials cannot be carried out: " + lost);
}

}  // namespace bayloom::cli
