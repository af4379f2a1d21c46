// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace bayloom::measure {

/// A cache for data of the processors that this process may run on.
struct HostCache {
  int level = 1;
  int64_t bytes = 0;
  int sharers = 1;  ///< of these processors, how many share it
  bool operator==(const HostCache&) const = default;
};

/// The processors that this process may run on.
std::set<int> AllowedProcessors();

/// The caches of the first of the processors, innermost first, as Linux describes them in the
/// folder `system`; from sysconf, taken for one processor's own, where it does not. Empty where
/// not known.
std::vector<HostCache> HostCaches(const std::set<int>& processors,
                                  const std::string& system = "/sys/devices/system/cpu");

}  // namespace bayloom::measure
