#include "bayloom/base/stop_flag.h"

#include <atomic>
#include <csignal>

namespace bayloom {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the flag is set in a signal handler");

extern "C" void HandleStopSignal(int signal_number) {
  stop_requested = true;
  std::signal(signal_number, SIG_DFL);
}

}  // namespace

void CatchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = HandleStopSignal;
  action.sa_flags = SA_RESTART;
  for (int signal_number : {SIGINT, SIGTERM}) sigaction(signal_number, &action, nullptr);
}

bool StopRequested() { return stop_requested; }

void RequestStop() { stop_requested = true; }

void ClearStop() { stop_requested = false; }

}  // namespace bayloom
