// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "bayloom/trial/outcome.h"

namespace bayloom::trial {

/// One trial as a store keeps it.
struct TrialRecord {
  int64_t ordinal = 0;    ///< among the run's trials in the store, from 0
  std::string candidate;  ///< JSON
  /// What tells candidates of a task apart. 0: the text of `candidate` does.
  uint64_t key = 0;
  std::string proposer;  ///< who chose it: an optimizer, a strategy, a mapper
  Outcome outcome;
  double elapsed = 0;     ///< seconds that the run had spent when the trial ended
  int64_t timestamp = 0;  ///< microseconds since 1970; filled in by the store when 0
};

/// Where a run keeps the trials of one task. The run writes every outcome here before anything is
/// learnt from it. Throws SystemError where it cannot be written.
class TrialStore {
 public:
  virtual ~TrialStore() = default;

  /// Durable when it returns, except that a store may hold trials that took less than a
  /// millisecond back until the next Flush.
  virtual void Add(const TrialRecord& trial) = 0;
  /// Makes everything durable.
  virtual void Flush() = 0;
};

}  // namespace bayloom::trial
