// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/internal/scenario_option.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <vector>

#include "bayloom/base/duration.h"
#include "bayloom/cli/internal/at_least_one.h"

namespace bayloom::cli {

void ScenarioOption::AddTo(CLI::App& command) {
  const auto names = optimizer::OptimizerNames();
  command
      .add_option("scenario", path,
                  "What to search: our YAML or JSON, BaCO/HyperMapper JSON, Kernel Tuner T1")
      ->required();
  command.add_option("--trials", trials, "Configurations to try in all; see below")
      ->check(AtLeastOne());
  command.add_option("--time", time, "Stop after this long in all: 90s, 10m, 1h30m");
  command
      .add_option("--optimizer", optimizer,
                  "How to choose; default what the scenario says, else bayesian")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())));
  command.add_option("--seed", seed, "Seed of all choices; default the scenario's, else 0")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--db", database, "Where every trial is kept; default NAME.db");
  command.add_flag("--resume", resume, "Go on with the last search of this name, if there is one");
}

external::Scenario ScenarioOption::Load() const {
  external::Scenario scenario = external::LoadScenario(path);
  if (optimizer) scenario.optimizer = *optimizer;
  if (seed) scenario.optimizer_options.seed = static_cast<uint64_t>(*seed);
  if (trials) scenario.max_trials = trials;
  if (!time.empty()) scenario.max_seconds = base::ParseDuration(time, "--time");
  return scenario;
}

std::string ScenarioOption::DatabaseFor(const external::Scenario& scenario) const {
  if (!database.empty()) return database;
  std::string name = scenario.name;
  std::replace(name.begin(), name.end(), '/', '-');
  return (name.empty() ? "search" : name) + ".db";
}

}  // namespace bayloom::cli
