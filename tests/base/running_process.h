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

/// The line that another process wrote to a file; empty as long as it is not whole.
inline std::string WrittenLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return file.eof() ? "" : line;
}

/// The same once it is there; empty if that takes too long.
inline std::string AwaitLine(const std::string& path) {
  const double begun = MonotonicSeconds();
  while (WrittenLine(path).empty() && MonotonicSeconds() - begun < kPatienceSeconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WrittenLine(path);
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
