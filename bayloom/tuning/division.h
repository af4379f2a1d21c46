// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/target/target.h"

namespace bayloom::tuning {

/// Which regions of a network may be divided into tasks otherwise than by fusion alone
/// (graph::Alternative).
enum class Divisions : uint8_t {
  kAll,   ///< those that may gain something
  kNone,  ///< none
};

/// "all" or "none".
Result<Divisions> ParseDivisions(const std::string& text);
std::string ToString(Divisions divisions);

/// Whether one task in place of several may be faster on the target, so that trials for it are not
/// wasted: if what the tasks apart hand on to each other (Alternative::bytes_between) takes more
/// than half of the second-level caches of all cores. Where it stays in them, one task never was
/// faster by more than a few percent, and often slower. Never on GPUs, for which there are no
/// design spaces of such tasks.
bool MayPay(int64_t bytes_between, Divisions divisions, const target::Target& target);

/// How a region was divided.
struct DividedRegion {
  std::string together;         ///< name of the one task
  double together_seconds = 0;  ///< infinity if it has no program
  double apart_seconds = 0;     ///< of the tasks that it may replace
  double count = 1;             ///< equal regions
  bool is_measured = true;      ///< false: both are estimates
  bool is_together = false;     ///< which of the two was taken
};

}  // namespace bayloom::tuning
