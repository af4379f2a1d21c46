// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/cli/internal/show_run.h"
#include "bayloom/report/format.h"
#include "bayloom/report/search_report.h"
#include "bayloom/report/table.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/tuning/durable_study.h"

namespace bayloom::cli {
namespace {

struct Verdicts {
  std::map<std::string, int64_t> counts;  ///< of trials without a value, by verdict
  std::string Text() const {
    std::string text;
    for (const auto& [verdict, count] : counts) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", report::FormatCount(count), verdict);
    }
    return text.empty() ? "none" : text;
  }
};

Verdicts CountFailures(std::span<const external::StudyTrial> trials) {
  Verdicts failures;
  for (const external::StudyTrial& trial : trials) {
    if (!trial.outcome.ok()) ++failures.counts[std::string(trial::ToString(trial.outcome.verdict))];
  }
  return failures;
}

/// The trials that were better than all before.
report::Table HistoryTable(const external::Scenario& scenario,
                           std::span<const external::StudyTrial> trials) {
  report::Table table({"trial", "elapsed", scenario.objective, "configuration"});
  for (const external::StudyTrial& trial : report::Improvements(scenario, trials)) {
    table.AddRow({trial.ordinal,
                  {trial.elapsed, report::FormatSeconds(trial.elapsed)},
                  {trial.outcome.value, report::FormatValue(trial.outcome.value)},
                  space::ToJson(*scenario.space, trial.configuration).dump()});
  }
  return table;
}

void PrintAsJson(const record::RunRecord& record, const external::Scenario& scenario,
                 std::span<const external::StudyTrial> trials) {
  nlohmann::json shown = {{"search", record.id},
                          {"scenario", record.name},
                          {"optimizer", record.proposer},
                          {"seed", record.seed},
                          {"finished", record.finished},
                          {"trials", trials.size()},
                          {"failures", CountFailures(trials).counts},
                          {"history", HistoryTable(scenario, trials).Json()},
                          {"best", nullptr}};
  if (const auto best = report::BestOf(scenario, trials)) {
    shown["best"] = {{"value", best->outcome.value},
                     {"trial", best->ordinal},
                     {"configuration", space::ToJson(*scenario.space, best->configuration)}};
  }
  fmt::print("{}\n", shown.dump(2));
}

void PrintAsText(const record::RunRecord& record, const external::Scenario& scenario,
                 std::span<const external::StudyTrial> trials, bool history) {
  fmt::print(
      "Search {} of {}, begun {}, {}\n"
      "{} optimizer, seed {}, {} parameters, {:.4g} configurations\n"
      "{} trials; without a value: {}\n",
      record.id, record.name, report::FormatTime(record.started),
      record.finished ? "finished" : "can be resumed", record.proposer, record.seed,
      scenario.space->size(), scenario.space->CountFeasible(),
      report::FormatCount(static_cast<int64_t>(trials.size())), CountFailures(trials).Text());
  if (const auto best = report::BestOf(scenario, trials)) {
    fmt::print("\n{} = {} (trial {})\n{}", scenario.objective,
               report::FormatValue(best->outcome.value), best->ordinal,
               report::ConfigurationText(*scenario.space, best->configuration));
  }
  if (history) fmt::print("\n{}", HistoryTable(scenario, trials).Text());
}

}  // namespace

void ShowSearch(record::Store& store, const record::RunRecord& run, const ShowRunOptions& options) {
  const external::Scenario scenario = tuning::ScenarioOf(run);
  const std::vector<external::StudyTrial> trials =
      tuning::ReadStudyTrials(*scenario.space, store, run.id);
  if (options.json) {
    PrintAsJson(run, scenario, trials);
  } else {
    PrintAsText(run, scenario, trials, options.history);
  }
}

}  // namespace bayloom::cli
