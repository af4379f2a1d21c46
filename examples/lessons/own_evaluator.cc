// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Lesson 3: a search with an evaluator of one's own. A kernel has a tile, a number of threads and a
// loop order; the evaluator times it in two threads at once, and a scheduled run does the rest:
// asks the optimizer, keeps both threads busy, stops at the budget.

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "bayloom/optimizer.h"
#include "bayloom/search.h"
#include "bayloom/trial.h"

using namespace bayloom;

namespace {

constexpr const char* kScenario = R"(
parameters:
  tile:    {type: ordinal, values: [8, 16, 32, 64, 128], scale: log, default: 8}
  threads: {type: integer, range: [1, 16]}
  order:   {type: permutation, size: 3}
constraints:
  - tile * threads <= 512
minimize: milliseconds
)";

/// What stands here for compiling and timing a kernel.
double Milliseconds(const Space& space, const Configuration& configuration) {
  const auto tile = std::get<double>(space.ValueOf(configuration, 0));
  const auto threads = static_cast<double>(std::get<int64_t>(space.ValueOf(configuration, 1)));
  const auto order = std::get<std::vector<int64_t>>(space.ValueOf(configuration, 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return 1 + std::abs(std::log2(tile / 32)) + std::abs(threads - 12) / 4 +
         static_cast<double>(order[2]);
}

}  // namespace

int main() {
  const Scenario scenario = search::ParseScenario(kScenario, "lesson.yaml");
  const auto evaluate = [&](const Configuration& configuration,
                            const std::stop_token& stop) -> std::optional<Outcome> {
    if (stop.stop_requested()) return std::nullopt;
    const double milliseconds = Milliseconds(*scenario.space, configuration);
    // A configuration that does not work is no large number: it is infeasible, with the reason.
    if (milliseconds > 8)
      return Outcome::Infeasible(trial::Verdict::kTimeout, "too slow to measure");
    return Outcome::Feasible(milliseconds);
  };
  trial::ThreadedEvaluator<Configuration> evaluator({evaluate, evaluate});

  search::Study study(scenario, MakeOptimizer("bayesian", scenario.space, {.seed = 1}));
  search::StudyTask task(study, evaluator);
  run::ScheduledRun<Configuration> run({.budget = {.trials = 40}, .scheduler = "round-robin"});
  run.AddTask(task, {.name = "kernel"});
  const StopReason reason = run.Run();

  const search::StudyTrial& best = *study.best();
  fmt::print("{}: {} trials, best {:.2f} ms after {}\n", trial::Describe(reason), study.trials(),
             best.outcome.value, best.ordinal + 1);
  return best.outcome.value < 3 ? 0 : 1;
}
