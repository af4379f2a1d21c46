#pragma once

#include "bayloom/sketch/design_space.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom {

/// A program that is to be measured: all that an evaluator needs to know.
struct ProgramTrial {
  const Workload* workload = nullptr;  ///< outlives the trial
  Candidate candidate;
};

/// Evaluates programs; the value of an outcome is the seconds of one run.
class ProgramEvaluator : public Evaluator<ProgramTrial> {
 public:
  /// Tells of the best program of earlier runs, by which slow ones may be cut short. To be called
  /// before the workload's first trial.
  virtual void SetIncumbent(const Workload& workload, const Program& program, double seconds) = 0;
  /// Wall-clock seconds that went into compiling so far.
  virtual double build_seconds() const { return 0; }
};

}  // namespace bayloom
