#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/tuning/program_evaluator.h"
#include "bayloom/tuning/session.h"
#include "tests/search/search_fixture.h"

namespace bayloom {

/// Tries candidates on the simulated machine, in this thread, one for each Collect. Some programs
/// crash it.
class SimulatedEvaluator : public ProgramEvaluator {
 public:
  /// Told of every outcome before it is handed back.
  std::function<void(const Candidate&, const Outcome&)> before_report;
  int candidates = 0;

  static Outcome Try(const Candidate& candidate) {
    if (candidate.hash % 11 == 0) return Outcome::Infeasible(Verdict::kCrash, "simulated");
    return Outcome::Feasible(SimulatedMachine::Run(candidate.program));
  }

  int Capacity() const override { return 1 << 20; }
  void Submit(TrialId id, const ProgramTrial& trial) override { waiting_.emplace_back(id, &trial); }
  std::vector<FinishedTrial> Collect(double, const std::function<bool()>&) override {
    if (waiting_.empty()) return {};
    const auto [id, trial] = waiting_.front();
    waiting_.pop_front();
    ++candidates;
    const Outcome outcome = Try(trial->candidate);
    if (before_report) before_report(trial->candidate, outcome);
    return {{id, outcome, {}}};
  }
  void Cancel() override { waiting_.clear(); }
  void SetIncumbent(const Workload&, const Program&, double) override {}

 private:
  std::deque<std::pair<TrialId, const ProgramTrial*>> waiting_;
};

inline std::vector<TaskSpec> TwoTasks() {
  return {{"large", MatmulWorkload(48, 64, 32), 1}, {"small", MatmulWorkload(24, 32, 60), 3}};
}

/// Settings for quick tests: slots of eight trials, small populations.
inline SessionOptions QuickOptions() {
  SessionOptions options;
  options.trials_per_slot = 8;
  options.budget.trials = 60;
  options.threads = 2;
  options.evolutionary.population = 48;
  options.evolutionary.min_fresh = 16;
  return options;
}

}  // namespace bayloom
