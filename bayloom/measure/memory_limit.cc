// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace bayloom::measure {

int64_t DefaultMemoryLimit() {
  const int64_t limit =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 4 * 3;
  rlimit given;
  if (getrlimit(RLIMIT_AS, &given) != 0 || given.rlim_max == RLIM_INFINITY) return limit;
  return std::min(limit, static_cast<int64_t>(given.rlim_max));
}

}  // namespace bayloom::measure
