// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {

/// The simulated machine, which says how large programs are. The workspace is a tenth of the code.
class SizedEvaluator final : public SimulatedEvaluator {
 public:
  static trial::Outcome Sized(const tensor::Program& program, trial::Outcome outcome) {
    outcome.Set("code_bytes", strategy::SimulatedMachine::CodeBytes(program));
    outcome.Set("workspace_bytes", strategy::SimulatedMachine::CodeBytes(program) / 10);
    return outcome;
  }

  void Submit(trial::TrialId id, const ProgramTrial& trial) override {
    trials_.push_back(&trial);
    SimulatedEvaluator::Submit(id, trial);
  }
  std::vector<trial::FinishedTrial> Collect(double wait_seconds,
                                            const std::function<bool()>& stop) override {
    std::vector<trial::FinishedTrial> finished = SimulatedEvaluator::Collect(wait_seconds, stop);
    for (trial::FinishedTrial& each : finished) {
      each.outcome = Sized(trials_.front()->candidate.program, *each.outcome);
      trials_.pop_front();
    }
    return finished;
  }
  void Cancel() override {
    trials_.clear();
    SimulatedEvaluator::Cancel();
  }

 private:
  std::deque<const ProgramTrial*> trials_;  ///< in the order in which they end
};

}  // namespace bayloom::tuning
