// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "bayloom/base/subprocess.h"

namespace bayloom::base {

/// Tells processes that the system killed because it ran out of memory from those that ended in
/// another way. To be made before they start.
class OutOfMemoryWatch {
 public:
  OutOfMemoryWatch();

  /// Whether a process that ended like this, or one that it waited for as shells do, was killed and
  /// the system has killed processes for their memory since.
  bool WasKilled(const ExitStatus& status) const;

 private:
  int64_t kills_before_;
};

}  // namespace bayloom::base
