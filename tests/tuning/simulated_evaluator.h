#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/tuning/evaluator.h"
#include "bayloom/tuning/session.h"
#include "tests/search/search_fixture.h"

namespace bayloom {

/// Tries candidates on the simulated machine. Some programs crash it.
class SimulatedEvaluator : public Evaluator {
 public:
  /// Told of every outcome before it is reported, and after.
  std::function<void(const Candidate&, const Outcome&)> before_report, after_report;
  int calls = 0;
  int candidates = 0;

  static Outcome Try(const Candidate& candidate) {
    if (candidate.hash % 11 == 0) return Outcome::Infeasible(Verdict::kCrash, "simulated");
    Outcome outcome;
    outcome.value = SimulatedMachine::Run(candidate.program);
    return outcome;
  }

  double Evaluate(const Workload&, std::span<const Candidate> batch,
                  const EvaluationContext& context, const Report& report) override {
    ++calls;
    for (int i = 0; i < static_cast<int>(batch.size()); ++i) {
      if (context.stop()) break;
      ++candidates;
      const Outcome outcome = Try(batch[i]);
      if (before_report) before_report(batch[i], outcome);
      report(i, outcome);
      if (after_report) after_report(batch[i], outcome);
    }
    return 0;
  }
};

inline std::vector<TaskSpec> TwoTasks() {
  return {{"large", MatmulWorkload(48, 64, 32), 1}, {"small", MatmulWorkload(24, 32, 60), 3}};
}

/// Settings for quick tests: slots of eight trials, small populations, never a stop request.
inline SessionOptions QuickOptions() {
  SessionOptions options;
  options.trials_per_slot = 8;
  options.max_trials = 60;
  options.threads = 2;
  options.evolutionary.population = 48;
  options.evolutionary.min_fresh = 16;
  options.stop = [] { return false; };
  return options;
}

}  // namespace bayloom
