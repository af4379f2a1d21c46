// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/memory_advice.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

namespace bayloom::base {
namespace {

/// A line of /proc/meminfo in GiB; 0 if it is not there.
double MemoryInfo(const std::string& name) {
  std::ifstream lines("/proc/meminfo");
  std::string field, unit;
  for (double kilobytes = 0; lines >> field >> kilobytes; std::getline(lines, unit)) {
    if (field == name + ":") return kilobytes / (1 << 20);
  }
  return 0;
}

}  // namespace

std::string MemoryAdvice() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return fmt::format("a process may use {:.1f} GiB here; 'ulimit -v' sets another limit",
                       static_cast<double>(limit.rlim_cur) / (1 << 30));
  }
  return fmt::format(
      "{:.1f} of this machine's {:.1f} GiB are left; it takes fewer programs "
      "beside this one, a smaller problem or a larger machine",
      MemoryInfo("MemAvailable"), MemoryInfo("MemTotal"));
}

}  // namespace bayloom::base
