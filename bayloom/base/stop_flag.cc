// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/stop_flag.h"

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

namespace bayloom::base {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<bool> stop_noticed{false};
std::atomic<int> stop_signal{SIGINT};
std::atomic<const char*> stop_message{"stopped\n"};
static_assert(std::atomic<bool>::is_always_lock_free, "the flag is set in a signal handler");

/// Ends the process after kStopSeconds, or with 0 lets it live.
void SetDeadline(double seconds) {
  itimerval timer = {};
  timer.it_value.tv_usec = static_cast<suseconds_t>(seconds * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

extern "C" void HandleDeadline(int) {
  const char* const message = stop_message;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message, std::strlen(message));
  _exit(128 + stop_signal);
}

extern "C" void HandleStopSignal(int signal_number) {
  stop_signal = signal_number;
  stop_requested = true;
  std::signal(signal_number, SIG_DFL);
  SetDeadline(kStopSeconds);
}

}  // namespace

void CatchStopSignals(const char* message) {
  stop_message = message;
  struct sigaction action = {};
  action.sa_handler = HandleStopSignal;
  action.sa_flags = SA_RESTART;
  for (int signal_number : {SIGINT, SIGTERM}) sigaction(signal_number, &action, nullptr);
  action.sa_handler = HandleDeadline;
  sigaction(SIGALRM, &action, nullptr);
}

void NoticeStop() {
  stop_noticed = true;
  SetDeadline(0);
}

int NoticedStopSignal() { return stop_noticed ? stop_signal.load() : 0; }

bool StopRequested() { return stop_requested; }

void RequestStop() { stop_requested = true; }

void ClearStop() {
  stop_requested = stop_noticed = false;
  stop_signal = SIGINT;
}

}  // namespace bayloom::base
