// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Searches of objectives that can be evaluated at several fidelities: simulated seconds until a
// configuration within 5 % of the optimum of the last one was evaluated there, by the search that
// chooses fidelities and by the same optimizer at the last fidelity alone.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/optimizer/optimizer.h"
#include "benchmarks/simulate/loop_order_task.h"
#include "benchmarks/simulate/simulation.h"

namespace bayloom {
namespace {

/// What configurations answer at a fidelity, with "measure_seconds".
using Outcomes = std::unordered_map<space::Configuration, trial::Outcome>;

struct FidelityTask {
  std::string name;
  std::shared_ptr<const space::Space> base, full;
  std::vector<Outcomes> fidelities;
  double optimum = 0;
};

/// The parameters of a space of ordinals and permutations, and the fidelity. Constraints are left
/// out: nothing is drawn from it.
std::shared_ptr<const space::Space> WithFidelity(const space::Space& base, size_t fidelities) {
  space::Space::Builder builder;
  for (int i = 0; i < base.size(); ++i) {
    const space::Parameter& parameter = base.parameter(i);
    builder.Add(
        space::MakeInteger(parameter.name(), 0, static_cast<int64_t>(parameter.Cardinality()) - 1));
  }
  std::vector<double> values;
  for (size_t i = 1; i <= fidelities; ++i) values.push_back(static_cast<double>(i));
  builder.Add(space::MakeOrdinal("fidelity", values));
  return *builder.Build();
}

FidelityTask MakeTask(std::string name, const RecordedTask& last,
                      std::vector<Outcomes> fidelities) {
  return {.name = std::move(name),
          .base = last.space,
          .full = WithFidelity(*last.space, fidelities.size()),
          .fidelities = std::move(fidelities),
          .optimum = last.optimum};
}

/// With the time that an evaluation takes: a part that is always the same, and one in proportion to
/// the value.
Outcomes WithSeconds(Outcomes outcomes, double constant, double per_value) {
  for (auto& [configuration, outcome] : outcomes) {
    outcome.Set("measure_seconds", constant + (outcome.ok() ? per_value * outcome.value : 0));
  }
  return outcomes;
}

/// Smaller products: a second to build, three runs at 2 GHz.
FidelityTask Products(const std::vector<int>& extents) {
  constexpr double kBuild = 1, kPerCycle = 3 / 2e9;
  std::string name = "loop-order";
  std::vector<Outcomes> fidelities;
  RecordedTask task;
  for (const int extent : extents) {
    name += fmt::format("/{}", extent);
    task = MakeLoopOrderTask(space::PermutationMetric::kSpearman, extent);
    fidelities.push_back(WithSeconds(task.outcomes, kBuild, kPerCycle));
  }
  return MakeTask(name, task, std::move(fidelities));
}

/// A recorded space, and what another device, noise or chance would say of it for `cost` of the
/// time.
FidelityTask Recorded(const RecordedTask& task, const std::string& kind, Outcomes lower,
                      double cost) {
  std::vector<Outcomes> fidelities;
  fidelities.push_back(WithSeconds(std::move(lower), cost, 0));
  fidelities.push_back(WithSeconds(task.outcomes, 1, 0));
  return MakeTask(fmt::format("{} by {} at {}", task.name, kind, cost), task,
                  std::move(fidelities));
}

std::vector<space::Configuration> Listed(const RecordedTask& task) {
  std::vector<space::Configuration> all;
  task.space->ForEach([&](const space::Configuration& c) {
    all.push_back(c);
    return true;
  });
  return all;
}

Outcomes Noisy(const RecordedTask& task, double deviation) {
  base::RandomStream random(1);
  Outcomes outcomes = task.outcomes;
  for (const space::Configuration& c : Listed(task)) {
    outcomes.at(c).value *= std::exp(deviation * random.Normal());
  }
  return outcomes;
}

Outcomes Shuffled(const RecordedTask& task) {
  base::RandomStream random(1);
  std::vector<space::Configuration> all = Listed(task), others = all;
  random.Shuffle(others);
  Outcomes outcomes;
  for (size_t i = 0; i < all.size(); ++i) {
    outcomes[all[i]] =
        task.outcomes.at(all[i]).ok() ? task.outcomes.at(others[i]) : task.outcomes.at(all[i]);
  }
  return outcomes;
}

struct Reached {
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<int> trials;  ///< of each fidelity
};

Reached Search(const FidelityTask& task, bool chooses, uint64_t seed, double limit, double share) {
  optimizer::OptimizerOptions options;
  options.seed = seed;
  if (chooses) options.fidelity = optimizer::FidelityOptions{task.base};
  const auto search =
      optimizer::MakeOptimizer("bayesian", chooses ? task.full : task.base, options);
  Reached reached;
  reached.trials.resize(task.fidelities.size());
  const int last = static_cast<int>(task.fidelities.size()) - 1;
  double seconds = 0;
  while (seconds < limit) {
    const std::vector<space::Configuration> asked = search->Ask(1);
    if (asked.empty()) break;
    space::Configuration base = asked[0];
    int level = last;
    if (chooses) {
      level = static_cast<int>(base.coordinates.back());
      base.coordinates.pop_back();
    }
    const trial::Outcome& outcome = task.fidelities[static_cast<size_t>(level)].at(base);
    seconds += outcome.Get("measure_seconds", 0);
    ++reached.trials[static_cast<size_t>(level)];
    if (level == last && outcome.ok() && outcome.value <= task.optimum * (1 + share)) {
      reached.seconds = seconds;
      return reached;
    }
    search->Tell(asked[0], outcome);
  }
  return reached;
}

std::string Text(double seconds, double limit) {
  return seconds <= limit * 1e6 ? fmt::format("{:.0f}", seconds) : fmt::format(">{:.0f}", limit);
}

void Compare(const FidelityTask& task, int seeds, double trials, double share) {
  double mean = 0;
  for (const auto& [c, outcome] : task.fidelities.back()) {
    mean += outcome.Get("measure_seconds", 0) / static_cast<double>(task.fidelities.back().size());
  }
  const double limit = trials * mean;
  std::string line = task.name;
  for (const bool chooses : {false, true}) {
    std::vector<Reached> all(static_cast<size_t>(seeds));
    base::ThreadPool threads(2);
    threads.ParallelFor(seeds, [&](int64_t i) {
      all[static_cast<size_t>(i)] =
          Search(task, chooses, static_cast<uint64_t>(i + 1), limit, share);
    });
    std::vector<double> seconds;
    std::vector<double> counts(task.fidelities.size());
    for (const Reached& one : all) {
      seconds.push_back(one.seconds);
      for (size_t k = 0; k < counts.size(); ++k) counts[k] += one.trials[k] / double(seeds);
    }
    std::ranges::sort(seconds);
    const auto at = [&](double q) {
      return Text(seconds[static_cast<size_t>(q * static_cast<double>(seeds - 1) + 0.5)], limit);
    };
    line += fmt::format(" | {} ({} .. {})", at(0.5), at(0.25), at(0.75));
    line += fmt::format(" [");
    for (const double count : counts) line += fmt::format(" {:.0f}", count);
    line += " ]";
  }
  fmt::print("| {} |\n", line);
  std::fflush(stdout);
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  using namespace bayloom;
  CLI::App app("Searches that choose fidelities, in simulated seconds");
  int seeds = 20;
  double trials = 150, share = 0.05;
  std::vector<std::string> files;
  app.add_option("--seeds", seeds, "Searches of each task")->capture_default_str();
  app.add_option("--trials", trials, "Mean trials at the last fidelity that a search may take")
      ->capture_default_str();
  app.add_option("--until", share, "Share of the optimum to reach")->capture_default_str();
  app.add_option("recorded", files,
                 "Recorded spaces of one kernel: the first is searched, the others are devices "
                 "that take its place");
  CLI11_PARSE(app, argc, argv);
  try {
    fmt::print("| task | last fidelity alone | chosen |\n|---|---|---|\n");
    if (files.empty()) {
      for (const std::vector<int>& extents :
           {std::vector{256, 512}, {512, 1024}, {512, 2048}, {256, 1024, 4096}, {256, 4096}}) {
        Compare(Products(extents), seeds, trials, share);
      }
      return 0;
    }
    const RecordedTask task = LoadRecordedTask(files[0]);
    for (size_t i = 1; i < files.size(); ++i) {
      const RecordedTask other = LoadRecordedTask(files[i]);
      Compare(Recorded(task, other.name, other.outcomes, 0.1), seeds, trials, share);
    }
    Compare(Recorded(task, "noise of 10 %", Noisy(task, 0.1), 0.2), seeds, trials, share);
    Compare(Recorded(task, "chance", Shuffled(task), 0.1), seeds, trials, share);
  } catch (const InputError& error) {
    fmt::print(stderr, "bayloom-fidelity: {}\n", error.what());
    return 2;
  }
  return 0;
}
