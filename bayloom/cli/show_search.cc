// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/show_run.h"
#include "bayloom/report/format.h"
#include "bayloom/report/pareto_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/repeat_table.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/search_report.h"
#include "bayloom/search/durable_study.h"

namespace bayloom::cli {
namespace {

void PrintAsJson(const record::RunRecord& record, const search::Scenario& scenario,
                 std::span<const search::StudyTrial> trials, const report::RunDigest& digest,
                 const report::Table& repeats) {
  nlohmann::json shown = {
      {"search", record.id},           {"scenario", record.name},
      {"optimizer", record.proposer},  {"seed", record.seed},
      {"finished", record.finished},   {"trials", digest.trials()},
      {"failures", digest.failures()}, {"history", report::ImprovementTable(digest).Json()},
      {"repeats", repeats.Json()},     {"best", nullptr}};
  if (!digest.improvements().empty()) {
    const report::RunDigest::Improvement& best = digest.improvements().back();
    shown["best"] = {{"value", best.value},
                     {"trial", best.trial},
                     {"configuration", base::ParseJsonOrDiscard(best.candidate)}};
  }
  if (scenario.objectives.size() > 1) {
    shown["objectives"] = report::ObjectivesJson(scenario);
    shown["front"] = report::ParetoJson(scenario, search::ParetoSet(trials, scenario.objectives));
  }
  fmt::print("{}\n", report::JsonText(shown));
}

void PrintAsText(const record::RunRecord& record, const search::Scenario& scenario,
                 std::span<const search::StudyTrial> trials, const report::RunDigest& digest) {
  fmt::print(
      "Search {} of {}, begun {}, {}\n"
      "{} optimizer, seed {}, {} parameters, {} configurations\n"
      "{} trials; without a value: {}\n",
      record.id, base::SingleLine(record.name), report::FormatTime(record.started),
      record.finished ? "finished" : "can be resumed", base::SingleLine(record.proposer),
      record.seed, scenario.space->size(), report::SizeText(*scenario.space),
      report::FormatCount(digest.trials()), report::FailureText(digest));
  if (digest.improvements().empty()) return;
  if (scenario.objectives.size() > 1) {
    const auto set = search::ParetoSet(trials, scenario.objectives);
    fmt::print("\nPareto front, {} trials:\n{}", set.size(),
               report::ParetoTable(scenario, set).Text());
    return;
  }
  const report::RunDigest::Improvement& best = digest.improvements().back();
  const auto trial = std::ranges::find(trials, best.trial, &search::StudyTrial::ordinal);
  fmt::print("\n{} = {} (trial {})\n{}", base::SingleLine(scenario.objectives[0].name),
             report::FormatValue(best.value), best.trial,
             report::ConfigurationText(*scenario.space, trial->configuration));
}

}  // namespace

search::Scenario ScenarioIn(const record::Store& store, const record::RunRecord& run) {
  try {
    return search::ScenarioOf(run);
  } catch (const InputError& error) {
    throw InputError(fmt::format("cannot use {}: the scenario of run {}: {}", store.path(), run.id,
                                 error.what()));
  }
}

void ShowSearch(record::Store& store, const record::RunRecord& run, const ShowRunOptions& options) {
  const search::Scenario scenario = ScenarioIn(store, run);
  const std::vector<search::StudyTrial> trials =
      search::ReadStudyTrials(*scenario.space, store, run.id);
  const report::RunDigest digest = report::DigestOf(store, run.id);
  const report::Table repeats = report::RepeatTable(store, run);
  if (options.json) return PrintAsJson(run, scenario, trials, digest, repeats);
  PrintAsText(run, scenario, trials, digest);
  if (!repeats.empty()) fmt::print("\nEvaluated again, in turns:\n{}", repeats.Text());
  if (options.history) fmt::print("\n{}", report::ImprovementTable(digest).Text());
}

}  // namespace bayloom::cli
