// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cctype>
#include <cstdint>
#include <string>

#include "bayloom/trial/outcome.h"

namespace bayloom::run {

/// Notices that a run's first trials all fail in the same way, by something that has nothing to do
/// with what is tried.
class FailureWatch {
 public:
  /// So many trials have to fail; 0: it never notices anything.
  explicit FailureWatch(int64_t trials) : trials_(trials) {}

  /// Takes the outcome of the run's next trial.
  void Look(const trial::Outcome& outcome) {
    const std::string kind = KindOf(outcome);
    is_alike_ = is_alike_ && !kind.empty() && (seen_ == 0 || kind == kind_);
    kind_ = kind;
    ++seen_;
  }
  /// Whether that was the last of the first trials, and all failed alike.
  bool Fired() const { return is_alike_ && trials_ > 0 && seen_ == trials_; }

 private:
  /// Failures alike have the same: the verdict and the reason, numbers in it left aside. Empty for
  /// a value, and for what others may not have: what the evaluator says of a candidate, and limits
  /// of time and memory that were exceeded.
  static std::string KindOf(const trial::Outcome& outcome) {
    using trial::Verdict;
    if (outcome.ok() || outcome.is_told || outcome.verdict == Verdict::kTimeout ||
        outcome.verdict == Verdict::kMemory) {
      return "";
    }
    std::string kind = std::string(trial::ToString(outcome.verdict)) + " " + outcome.reason;
    std::erase_if(kind, [](unsigned char c) { return std::isdigit(c) != 0; });
    return kind;
  }

  int64_t trials_;
  int64_t seen_ = 0;
  bool is_alike_ = true;
  std::string kind_;
};

}  // namespace bayloom::run
