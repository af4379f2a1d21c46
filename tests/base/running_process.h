// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "bayloom/base/clock.h"
#include "tests/patience.h"

namespace bayloom::base {

/// Whether the process is there and no zombie (which waits to be collected).
inline bool IsRunning(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string stat;
  std::getline(file, stat);
  return stat.size() > stat.rfind(')') + 2 && stat[stat.rfind(')') + 2] != 'Z';
}

/// Whether the process ends before long.
inline bool EndsSoon(const std::string& pid) {
  const double begun = MonotonicSeconds();
  while (IsRunning(pid) && MonotonicSeconds() - begun < kPatienceSeconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return !IsRunning(pid);
}

}  // namespace bayloom::base
