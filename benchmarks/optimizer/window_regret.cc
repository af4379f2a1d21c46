// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// regret_optimizer [--trials N] [--limit L] [--exact E] [--seeds S]: what it costs in quality that
// a Gaussian process learns from a part of the trials. Searches that learn from all up to L
// feasible trials and then from a selection, beside the same searches with the limit E, over S
// seeds and several objectives; both are alike up to L trials.

#include <fmt/format.h>
#include <time.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "bayloom/optimizer/optimizer.h"
#include "bayloom/space/parameter.h"

namespace bayloom {
namespace {

/// Ten parameters, too many configurations and too rugged to be exhausted in some thousand trials.
std::shared_ptr<const space::Space> TenParameters() {
  space::Space::Builder builder;
  for (int i = 0; i < 4; ++i) builder.Add(space::MakeReal("x" + std::to_string(i), 0, 1));
  for (int i = 4; i < 8; ++i) builder.Add(space::MakeInteger("n" + std::to_string(i), 0, 63));
  builder.Add(space::MakeOrdinal("tile", {1, 2, 4, 8, 16, 32, 64, 128}, space::Scale::kLog));
  builder.Add(space::MakeCategorical("kind", {"a", "b", "c"}));
  return *builder.Build();
}

/// The parameters' positions from 0 to 1.
std::vector<double> Positions(const space::Space& space, const space::Configuration& c) {
  std::vector<double> positions;
  for (int i = 0; i < space.size(); ++i) {
    const double last = i < 4 ? 1 : static_cast<double>(space.parameter(i).Cardinality() - 1);
    positions.push_back(c.coordinates[i] / last);
  }
  return positions;
}

/// A bowl whose parameters depend on each other.
double Bowl(const std::vector<double>& x) {
  double sum = 0.01;
  for (size_t i = 0; i < x.size(); ++i) {
    const double target = i == 0 ? 0.3 : 0.2 + 0.6 * x[i - 1];
    sum += (x[i] - target) * (x[i] - target) * static_cast<double>(1 + i % 3);
  }
  return sum;
}

/// The bowl with ridges (Rastrigin's).
double Rugged(const std::vector<double>& x) {
  double sum = Bowl(x);
  for (const double each : x) {
    sum += 0.05 * (1 - std::cos(10 * std::numbers::pi * (each - 0.3)));
  }
  return sum;
}

/// Good only within a valley far from most of the space.
double Valley(const std::vector<double>& x) { return 1.01 - std::exp(-8 * Bowl(x)); }

struct Objective {
  const char* name;
  double (*value)(const std::vector<double>&);
};
constexpr Objective kObjectives[] = {{"bowl", Bowl}, {"rugged", Rugged}, {"valley", Valley}};

double ProcessorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Run {
  std::vector<double> best;  ///< after each trial
  double seconds = 0;        ///< of the processor
};

Run Search(const Objective& objective, int limit, int trials, uint64_t seed) {
  const std::shared_ptr<const space::Space> space = TenParameters();
  optimizer::OptimizerOptions options;
  options.seed = seed;
  options.bayesian.max_observations = limit;
  const auto optimizer = optimizer::MakeOptimizer("bayesian", space, options);
  Run run;
  const double begun = ProcessorSeconds();
  while (static_cast<int>(run.best.size()) < trials) {
    for (const space::Configuration& c : optimizer->Ask(1)) {
      const double value = objective.value(Positions(*space, c));
      optimizer->Tell(c, trial::Outcome::Feasible(value));
      run.best.push_back(run.best.empty() ? value : std::min(run.best.back(), value));
    }
  }
  run.seconds = ProcessorSeconds() - begun;
  return run;
}

void Compare(const Objective& objective, int limit, int exact, int trials, int seeds) {
  std::vector<double> logs(5);  // of windowed over exact at fifths of what follows the limit
  double windowed_seconds = 0, exact_seconds = 0;
  int better = 0, worse = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Run windowed = Search(objective, limit, trials, static_cast<uint64_t>(seed));
    const Run all = Search(objective, exact, trials, static_cast<uint64_t>(seed));
    for (int i = 0; i < 5; ++i) {
      const int at = limit + (i + 1) * (trials - limit) / 5 - 1;
      logs[i] += std::log(windowed.best[at] / all.best[at]) / seeds;
    }
    better += windowed.best.back() < all.best.back();
    worse += windowed.best.back() > all.best.back();
    windowed_seconds += windowed.seconds / seeds;
    exact_seconds += all.seconds / seeds;
  }
  fmt::print("| {} |", objective.name);
  for (const double each : logs) fmt::print(" {:.3f} |", std::exp(each));
  fmt::print(" {} / {} | {:.0f} | {:.0f} |\n", better, worse, windowed_seconds, exact_seconds);
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  int trials = 1200, limit = 300, exact = 1200, seeds = 5;
  CLI::App app("What it costs that a Gaussian process learns from a part of the trials");
  app.add_option("--trials", trials);
  app.add_option("--limit", limit);
  app.add_option("--exact", exact);
  app.add_option("--seeds", seeds);
  CLI11_PARSE(app, argc, argv);
  fmt::print("best value, limit {} over limit {}, geometric mean of {} seeds\n| objective |", limit,
             exact, seeds);
  for (int i = 1; i <= 5; ++i) fmt::print(" {} trials |", limit + i * (trials - limit) / 5);
  fmt::print(" better / worse | s, limit {} | s, limit {} |\n", limit, exact);
  for (const bayloom::Objective& objective : bayloom::kObjectives) {
    bayloom::Compare(objective, limit, exact, trials, seeds);
  }
}
