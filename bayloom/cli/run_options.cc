#include "bayloom/cli/run_options.h"

#include "bayloom/base/duration.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/system_error.h"

namespace bayloom {

bool StopSeen() {
  if (!StopRequested()) return false;
  NoticeStop();
  return true;
}

Budget MakeBudget(std::optional<int64_t> trials, const std::string& time) {
  CatchStopSignals();
  Budget budget;
  if (trials) budget.trials = *trials;
  if (!time.empty()) budget.seconds = ParseDuration(time, "--time");
  budget.stop = StopSeen;
  return budget;
}

std::string DescribeEnd(StopReason reason) {
  const bool can_go_on = reason == StopReason::kStopped || reason == StopReason::kLost;
  return std::string(Describe(reason)) + (can_go_on ? "; --resume goes on from here" : "");
}

void ThrowIfLost(StopReason reason, const std::string& lost) {
  if (reason != StopReason::kLost) return;
  throw SystemError("trials cannot be carried out: " + lost);
}

}  // namespace bayloom
