// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::tuning {

/// A program that is to be measured: all that an evaluator needs to know.
struct ProgramTrial {
  const tensor::Workload* workload = nullptr;  ///< outlives the trial
  sketch::Candidate candidate;
  /// Measured again, in turns with others: each time for less long than a trial.
  bool is_repeat = false;
};

/// More than any slot has trials: strategies choose a slot's candidates together.
inline constexpr int kMaxInFlight = 1024;

/// Evaluates programs; the value of an outcome is the seconds of one run.
class ProgramEvaluator : public trial::Evaluator<ProgramTrial> {
 public:
  /// Tells of the best program of earlier runs, by which slow ones may be cut short. To be called
  /// before the workload's first trial.
  virtual void SetIncumbent(const tensor::Workload& workload, const tensor::Program& program,
                            double seconds) = 0;
  /// Whether programs run on this machine.
  virtual bool is_here() const { return true; }
  /// Wall-clock seconds that went into compiling so far.
  virtual double build_seconds() const { return 0; }
};

}  // namespace bayloom::tuning
