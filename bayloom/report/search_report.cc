// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/search_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

nlohmann::json SearchSummary(const external::Scenario& scenario, const external::Study& study) {
  nlohmann::json summary = {{"scenario", scenario.name},
                            {"objective", scenario.objective},
                            {"goal", scenario.maximize ? "maximize" : "minimize"},
                            {"trials", study.trials()},
                            {"feasible_trials", study.feasible_trials()},
                            {"seconds", study.elapsed()},
                            {"best", nullptr}};
  if (const auto& best = study.best()) {
    summary["best"] = {{"value", best->outcome.value},
                       {"trial", best->ordinal},
                       {"configuration", space::ToJson(*scenario.space, best->configuration)}};
  }
  return summary;
}

std::string TrialsCsv(const external::Scenario& scenario,
                      std::span<const external::StudyTrial> trials) {
  const space::Space& space = *scenario.space;
  std::vector<std::string> cells = {"trial"};
  for (int i = 0; i < space.size(); ++i) cells.push_back(space.parameter(i).name());
  cells.insert(cells.end(), {scenario.objective, "verdict", "reason", "elapsed"});
  std::string csv = CsvRow(cells);
  for (const external::StudyTrial& trial : trials) {
    const trial::Outcome& outcome = trial.outcome;
    cells = {std::to_string(trial.ordinal)};
    for (int i = 0; i < space.size(); ++i) {
      cells.push_back(space::ToString(space.ValueOf(trial.configuration, i)));
    }
    cells.push_back(outcome.ok() ? fmt::format("{}", outcome.value) : "");
    cells.emplace_back(trial::ToString(outcome.verdict));
    cells.push_back(outcome.reason);
    cells.push_back(fmt::format("{:.3f}", trial.elapsed));
    csv += CsvRow(cells);
  }
  return csv;
}

std::vector<external::StudyTrial> Improvements(const external::Scenario& scenario,
                                               std::span<const external::StudyTrial> trials) {
  std::vector<external::StudyTrial> improvements;
  for (const external::StudyTrial& trial : trials) {
    if (!trial.outcome.ok()) continue;
    const double value = trial.outcome.value;
    const bool is_better =
        improvements.empty() || (scenario.maximize ? value > improvements.back().outcome.value
                                                   : value < improvements.back().outcome.value);
    if (is_better) improvements.push_back(trial);
  }
  return improvements;
}

std::optional<external::StudyTrial> BestOf(const external::Scenario& scenario,
                                           std::span<const external::StudyTrial> trials) {
  std::vector<external::StudyTrial> improvements = Improvements(scenario, trials);
  if (improvements.empty()) return std::nullopt;
  return std::move(improvements.back());
}

LineChart SearchChart(const external::Scenario& scenario,
                      std::span<const external::StudyTrial> trials) {
  LineChart chart;
  chart.title = scenario.name;
  chart.x_label = "trials";
  chart.y_label =
      fmt::format("{} {} so far", scenario.maximize ? "greatest" : "least", scenario.objective);
  LineChart::Series series;
  series.name = scenario.optimizer;
  series.steps = true;
  double least = 0;
  double greatest = 0;
  for (const external::StudyTrial& trial : trials) {
    if (!trial.outcome.ok()) continue;
    double value = trial.outcome.value;
    if (!series.points.empty()) {
      const double before = series.points.back().second;
      value = scenario.maximize ? std::max(value, before) : std::min(value, before);
    }
    least = series.points.empty() ? value : std::min(least, value);
    greatest = series.points.empty() ? value : std::max(greatest, value);
    series.points.emplace_back(static_cast<double>(trial.ordinal + 1), value);
  }
  chart.log_y = least > 0 && greatest > 20 * least;
  chart.series.push_back(std::move(series));
  return chart;
}

std::string ConfigurationText(const space::Space& space,
                              const space::Configuration& configuration) {
  size_t width = 0;
  for (int i = 0; i < space.size(); ++i) width = std::max(width, space.parameter(i).name().size());
  std::string text;
  for (int i = 0; i < space.size(); ++i) {
    text += fmt::format("  {:<{}}  {}\n", space.parameter(i).name(), width,
                        space::ToString(space.ValueOf(configuration, i)));
  }
  return text;
}

}  // namespace bayloom::report
