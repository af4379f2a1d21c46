// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/scenario_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>

#include "bayloom/base/duration.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"

namespace bayloom::cli {

void ScenarioOption::AddTo(CLI::App& command) {
  command
      .add_option("scenario", path,
                  WithDetails("Scenario file, as docs/scenarios.md describes them",
                              "; files of BaCO, HyperMapper and Kernel Tuner (T1), too"))
      ->required();
  command.add_option("--trials", trials, "Stop after N trials")
      ->option_text("N")
      ->default_str("the scenario's, else 100")
      ->check(AtLeastOne());
  command.add_option("--time", time, "Stop after this long, e.g. 30s, 10m, 2h")
      ->option_text("TIME");
  OneOf(command.add_option("--optimizer", optimizer, "How configurations are chosen")
            ->option_text("NAME")
            ->default_str("the scenario's, else bayesian"),
        optimizer::Optimizers());
  Advanced(command.add_option("--seed", seed, "Seed of all random choices")
               ->option_text("N")
               ->default_str("the scenario's, else 0"));
  command.add_option("--db", database, "Database that keeps every trial")
      ->option_text("FILE")
      ->default_str("NAME.db");
  command.add_flag("--resume", resume,
                   "Continue the last search of this scenario, if there is one");
}

search::Scenario ScenarioOption::Load(const std::string& text) const {
  search::Scenario scenario =
      text.empty() ? search::LoadScenario(path) : search::ParseScenario(text, path);
  if (trials) scenario.max_trials = trials;
  if (!time.empty()) scenario.max_seconds = base::ParseDuration(time, "--time");
  OverrideSearch(scenario);
  for (search::Scenario& context : scenario.contexts) OverrideSearch(context);
  return scenario;
}

void ScenarioOption::OverrideSearch(search::Scenario& scenario) const {
  if (optimizer) scenario.optimizer = *optimizer;
  if (seed) scenario.optimizer_options.seed = static_cast<uint64_t>(*seed);
  if (!until_value.empty()) {
    const size_t objectives = scenario.objectives.size();
    if (until_value.size() != objectives) {
      throw InputError(fmt::format("--until-value: {} given, for {} objective{}",
                                   until_value.size(), objectives, objectives == 1 ? "" : "s"));
    }
    scenario.stop.target = until_value;
  }
  if (until_plateau) {
    scenario.stop.plateau_trials = *until_plateau;
    scenario.stop.plateau_gain = plateau_gain / 100;
  }
}

std::string ScenarioOption::DatabaseFor(const search::Scenario& scenario) const {
  if (!database.empty()) return database;
  std::string name = scenario.name;
  std::replace(name.begin(), name.end(), '/', '-');
  return (name.empty() ? "search" : name) + ".db";
}

}  // namespace bayloom::cli
