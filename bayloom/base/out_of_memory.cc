// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/out_of_memory.h"

#include <csignal>
#include <fstream>
#include <string>

namespace bayloom::base {
namespace {

/// What a shell exits with when its program was killed.
constexpr int kShellKilled = 128 + SIGKILL;

/// How many processes this system has killed because it ran out of memory; 0 if it does not tell.
int64_t OutOfMemoryKills() {
  std::ifstream counters("/proc/vmstat");
  std::string name;
  for (int64_t count; counters >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

}  // namespace

OutOfMemoryWatch::OutOfMemoryWatch() : kills_before_(OutOfMemoryKills()) {}

bool OutOfMemoryWatch::WasKilled(const ExitStatus& status) const {
  const bool was_killed = status.signaled ? status.code == SIGKILL : status.code == kShellKilled;
  return was_killed && OutOfMemoryKills() > kills_before_;
}

}  // namespace bayloom::base
