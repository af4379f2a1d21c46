// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <utility>

namespace bayloom::run {

/// Wall-clock seconds a session has spent, by what they were spent on.
struct PhaseTimes {
  double schedule = 0;  ///< deciding which task is next
  double search = 0;    ///< drawing, mutating and replaying candidates
  double features = 0;  ///< extracting features
  double predict = 0;   ///< asking the cost model
  double train = 0;     ///< teaching the cost model
  double compile = 0;
  double measure = 0;
  double record = 0;  ///< writing to the store
  double resume = 0;  ///< taking up earlier trials

  double Total() const;
  /// Share of the time in which no trial was made: all but compiling and measuring.
  double OverheadShare() const { return Total() == 0 ? 0 : 1 - (compile + measure) / Total(); }
};

struct NamedPhase {
  const char* name;
  double PhaseTimes::*seconds;
};

/// All phases, in the order of a slot.
inline constexpr NamedPhase kPhases[] = {
    {"resume", &PhaseTimes::resume},   {"schedule", &PhaseTimes::schedule},
    {"search", &PhaseTimes::search},   {"features", &PhaseTimes::features},
    {"predict", &PhaseTimes::predict}, {"compile", &PhaseTimes::compile},
    {"measure", &PhaseTimes::measure}, {"record", &PhaseTimes::record},
    {"train", &PhaseTimes::train},
};

inline double PhaseTimes::Total() const {
  double sum = 0;
  for (const NamedPhase& phase : kPhases) sum += this->*phase.seconds;
  return sum;
}

/// By phase.
inline PhaseTimes operator+(PhaseTimes a, const PhaseTimes& b) {
  for (const NamedPhase& phase : kPhases) a.*phase.seconds += b.*phase.seconds;
  return a;
}

/// Attributes time to phases. A phase entered within another one interrupts it, so that no second
/// counts twice.
class PhaseClock {
 public:
  using Phase = double PhaseTimes::*;

  /// `now` gives seconds on a monotonic clock.
  explicit PhaseClock(std::function<double()> now) : now_(std::move(now)) {}

  const PhaseTimes& times() const { return times_; }
  PhaseTimes& times() { return times_; }
  double now() const { return now_(); }

  /// Runs `work` as part of a phase.
  template <typename Work>
  auto In(Phase phase, Work&& work) {
    const Scope scope(*this, phase);
    return work();
  }

 private:
  class Scope {
   public:
    Scope(PhaseClock& clock, Phase phase) : clock_(clock), outer_(clock.Switch(phase)) {}
    ~Scope() { clock_.Switch(outer_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PhaseClock& clock_;
    Phase outer_;
  };

  /// Closes the account of the current phase and returns it.
  Phase Switch(Phase next) {
    const double now = now_();
    if (current_ != nullptr) times_.*current_ += now - since_;
    since_ = now;
    return std::exchange(current_, next);
  }

  std::function<double()> now_;
  PhaseTimes times_;
  Phase current_ = nullptr;
  double since_ = 0;
};

}  // namespace bayloom::run
