// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/pareto_table.h"

#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/report/format.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::report {

Table ParetoTable(const search::Scenario& scenario, std::span<const search::StudyTrial> set) {
  const space::Space& space = *scenario.space;
  const std::vector<search::Objective> objectives = scenario.objectives;
  std::vector<std::string> columns = {"trial"};
  for (const search::Objective& objective : objectives) columns.push_back(objective.name);
  for (int i = 0; i < space.size(); ++i) columns.push_back(space.parameter(i).name());
  Table table(columns);
  for (const search::StudyTrial& trial : set) {
    std::vector<Cell> cells = {trial.ordinal};
    for (const double value : search::ValuesOf(trial.outcome, objectives)) {
      cells.emplace_back(value, FormatValue(value));
    }
    for (int i = 0; i < space.size(); ++i) {
      cells.emplace_back(base::SingleLine(space.TextOf(trial.configuration, i), 200));
    }
    table.AddRow(std::move(cells));
  }
  return table;
}

nlohmann::json ParetoJson(const search::Scenario& scenario,
                          std::span<const search::StudyTrial> set) {
  const std::vector<search::Objective> objectives = scenario.objectives;
  nlohmann::json shown = nlohmann::json::array();
  for (const search::StudyTrial& trial : set) {
    const std::vector<double> values = search::ValuesOf(trial.outcome, objectives);
    nlohmann::json by_name;
    for (size_t k = 0; k < values.size(); ++k) by_name[objectives[k].name] = values[k];
    shown.push_back({{"trial", trial.ordinal},
                     {"values", by_name},
                     {"configuration", space::ToJson(*scenario.space, trial.configuration)}});
  }
  return shown;
}

nlohmann::json ObjectivesJson(const search::Scenario& scenario) {
  nlohmann::json shown = nlohmann::json::array();
  for (const search::Objective& objective : scenario.objectives) {
    shown.push_back(
        {{"name", objective.name}, {"goal", objective.maximize ? "maximize" : "minimize"}});
  }
  return shown;
}

}  // namespace bayloom::report
