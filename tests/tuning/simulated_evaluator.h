// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/tuning/program_evaluator.h"
#include "bayloom/tuning/session.h"
#include "tests/strategy/search_fixture.h"

namespace bayloom::tuning {

/// Tries candidates on the simulated machine, in this thread, one for each Collect. Some programs
/// crash it.
class SimulatedEvaluator : public ProgramEvaluator {
 public:
  /// Told of every outcome before it is handed back.
  std::function<void(const sketch::Candidate&, const trial::Outcome&)> before_report;
  int candidates = 0;

  static trial::Outcome Try(const sketch::Candidate& candidate) {
    if (candidate.hash % 11 == 0)
      return trial::Outcome::Infeasible(trial::Verdict::kCrash, "simulated");
    return trial::Outcome::Feasible(strategy::SimulatedMachine::Run(candidate.program));
  }

  int Capacity() const override { return 1 << 20; }
  void Submit(trial::TrialId id, const ProgramTrial& trial) override {
    waiting_.emplace_back(id, &trial);
  }
  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>&) override {
    if (waiting_.empty()) return {};
    const auto [id, trial] = waiting_.front();
    waiting_.pop_front();
    ++candidates;
    const trial::Outcome outcome = Try(trial->candidate);
    if (before_report) before_report(trial->candidate, outcome);
    return {{id, outcome, {}}};
  }
  void Cancel() override { waiting_.clear(); }
  void SetIncumbent(const tensor::Workload&, const tensor::Program&, double) override {}

 private:
  std::deque<std::pair<trial::TrialId, const ProgramTrial*>> waiting_;
};

inline std::vector<TaskSpec> TwoTasks() {
  return {{"large", tensor::MatmulWorkload(48, 64, 32), 1},
          {"small", tensor::MatmulWorkload(24, 32, 60), 3}};
}

/// Settings for quick tests: slots of eight trials, small populations.
inline SessionOptions QuickOptions() {
  SessionOptions options;
  options.run.trials_per_slot = 8;
  options.run.budget.trials = 60;
  options.threads = 2;
  options.evolutionary.population = 48;
  options.evolutionary.min_fresh = 16;
  return options;
}

}  // namespace bayloom::tuning
