// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/search_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/base/utf8.h"
#include "bayloom/report/format.h"
#include "bayloom/report/pareto_table.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::report {
namespace {

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string CsvRow(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(CsvCell(cell));
  return fmt::format("{}\r\n", fmt::join(quoted, ","));
}

}  // namespace

nlohmann::json SearchSummary(const search::Scenario& scenario, const search::Study& study) {
  nlohmann::json summary = {{"scenario", scenario.name},
                            {"objective", scenario.objectives[0].name},
                            {"goal", scenario.objectives[0].maximize ? "maximize" : "minimize"},
                            {"trials", study.trials()},
                            {"feasible_trials", study.feasible_trials()},
                            {"seconds", study.elapsed()},
                            {"best", nullptr}};
  if (const auto& best = study.best()) {
    summary["best"] = {{"value", best->outcome.value},
                       {"trial", best->ordinal},
                       {"configuration", space::ToJson(*scenario.space, best->configuration)}};
  }
  if (scenario.objectives.size() > 1) {
    summary["objectives"] = ObjectivesJson(scenario);
    summary["front"] = ParetoJson(scenario, study.front());
  }
  return summary;
}

std::string TrialsCsv(const search::Scenario& scenario,
                      std::span<const search::StudyTrial> trials) {
  const space::Space& space = *scenario.space;
  std::vector<std::string> cells = {"trial"};
  for (int i = 0; i < space.size(); ++i) cells.push_back(space.parameter(i).name());
  const std::vector<search::Objective> objectives = scenario.objectives;
  for (const search::Objective& objective : objectives) cells.push_back(objective.name);
  cells.insert(cells.end(), {"verdict", "reason", "elapsed"});
  std::string csv = CsvRow(cells);
  for (const search::StudyTrial& trial : trials) {
    const trial::Outcome& outcome = trial.outcome;
    cells = {std::to_string(trial.ordinal)};
    for (int i = 0; i < space.size(); ++i) {
      cells.push_back(space.TextOf(trial.configuration, i));
    }
    const std::vector<double> values =
        outcome.ok() ? search::ValuesOf(outcome, objectives) : std::vector<double>();
    for (size_t k = 0; k < objectives.size(); ++k) {
      cells.push_back(outcome.ok() ? fmt::format("{}", values[k]) : "");
    }
    cells.emplace_back(trial::ToString(outcome.verdict));
    cells.push_back(outcome.reason);
    cells.push_back(fmt::format("{:.3f}", trial.elapsed));
    csv += CsvRow(cells);
  }
  return csv;
}

std::string SizeText(const space::Space& space) {
  const double configurations = space.CountFeasible();
  if (std::isinf(space.Log10CountFeasible())) return "infinitely many";
  if (configurations < 1e7) return FormatCount(static_cast<int64_t>(configurations));
  return std::isinf(configurations) ? space.CountText() : fmt::format("{:.3g}", configurations);
}

std::string ConfigurationText(const space::Space& space,
                              const space::Configuration& configuration) {
  size_t width = 0;
  std::vector<std::string> names;
  for (int i = 0; i < space.size(); ++i) {
    names.push_back(base::SingleLine(space.parameter(i).name()));
    width = std::max(width, base::CountUtf8Characters(names.back()));
  }
  std::string text;
  for (int i = 0; i < space.size(); ++i) {
    if (!space.IsActive(configuration, i)) continue;
    const std::string filling(width - base::CountUtf8Characters(names[i]), ' ');
    const std::string value = space.TextOf(configuration, i);
    text += fmt::format("  {}{}  {}\n", names[i], filling, base::SingleLine(value, 1000));
  }
  return text;
}

}  // namespace bayloom::report
