// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <limits>

namespace bayloom::search {

/// How long an evaluation may take: a fixed time, and a multiple of the time that the evaluation of
/// the best configuration took, once there is one. What is that much slower need not be waited for.
/// Evaluations that have begun keep the limit they began with. May be asked in several threads.
class TimeLimit {
 public:
  /// Below this a multiple of the best's time says more about the machine than about the
  /// configuration.
  static constexpr double kMinSeconds = 0.1;

  TimeLimit(double seconds, double factor) : seconds_(seconds), factor_(factor) {}

  void SetBest(double seconds) { best_ = seconds; }
  double Seconds() const { return std::min(seconds_, OverBest()); }
  bool IsOverBest() const { return OverBest() < seconds_; }

 private:
  double OverBest() const { return std::max(kMinSeconds, factor_ * best_); }

  double seconds_;
  double factor_;
  std::atomic<double> best_ = std::numeric_limits<double>::infinity();
};

}  // namespace bayloom::search
