// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sensitivity.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/define_option.h"
#include "bayloom/cli/options/map_options.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/record/store.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/sensitivity_table.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/scenario.h"

namespace bayloom::cli {
namespace {

struct SensitivityOptions {
  std::string scenario;
  std::string database;
  std::string op;
  std::string problem;
  std::string architecture;
  DefineOption define;
  std::string objective = "energy";
  std::string tiles = "integer";
  std::string orders = "ranking";
  int64_t samples = 1000;
  uint64_t seed = 0;
  bool json = false;
};

/// By the trials of the last search of a scenario.
report::Table RankScenario(const SensitivityOptions& options) {
  const search::Scenario scenario = search::LoadScenario(options.scenario);
  const std::string database = options.database.empty() ? scenario.name + ".db" : options.database;
  record::Store store(database, record::Store::Mode::kReadOnly);
  const std::optional<record::RunRecord> last =
      store.LastRun(record::RunKind::kSearch, scenario.name);
  if (!last) {
    throw InputError(fmt::format("{} has no search of '{}'", database, scenario.name));
  }
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
  for (const search::StudyTrial& trial :
       search::ReadStudyTrials(*scenario.space, store, last->id)) {
    if (!trial.outcome.ok() || !scenario.IsFull(trial.configuration)) continue;
    configurations.push_back(trial.configuration);
    values.push_back(trial.outcome.value);
  }
  if (values.size() < 2) {
    throw InputError(
        fmt::format("the last search of '{}' in {} has {} trials with a value; two "
                    "is the least",
                    scenario.name, database, values.size()));
  }
  base::RandomStream random(options.seed);
  return report::SensitivityTable(
      *scenario.space, optimizer::RankParameters(scenario.space, configurations, values, random));
}

/// By random mappings, which the model evaluates.
report::Table RankOperation(const SensitivityOptions& options) {
  if (options.architecture.empty()) throw InputError("an operation needs --arch");
  const yaml::TemplateVariables variables = options.define.Variables();
  const mapspace::AnalyticalModel model(
      options.op.empty() ? mapspace::ReadProblem(options.problem, variables)
                         : mapspace::ParseProblem(options.op),
      mapspace::LoadArchitecture(options.architecture, nullptr, variables));
  SayWithoutEffect(model.architecture());
  const mapspace::Mapspace mapspace(model.problem(), model.architecture());
  const auto encoding =
      mapspace::MakeMappingEncoding(mapspace, model, options.tiles, options.orders);
  const mapspace::MapObjective objective = mapspace::ParseMapObjective(options.objective);
  const mapspace::EncodingSensitivity sensitivity = mapspace::RankEncoding(
      *encoding,
      [&](const mapspace::Mapping& mapping) {
        return mapspace::EvaluateByModel(model, {{objective}}, mapping);
      },
      options.samples, options.seed);
  return report::SensitivityTable(*encoding->space(), sensitivity.ranking);
}

void RunSensitivity(const SensitivityOptions& options) {
  const int subjects = static_cast<int>(!options.scenario.empty()) +
                       static_cast<int>(!options.op.empty()) +
                       static_cast<int>(!options.problem.empty());
  if (subjects != 1) {
    throw InputError(
        "sensitivity needs one of a scenario, such as flags.yaml, --op, such as "
        "matmul:64,128,512, and --problem FILE");
  }
  const report::Table table =
      options.scenario.empty() ? RankOperation(options) : RankScenario(options);
  if (options.json) {
    fmt::print("{}\n", report::JsonText(table.Json()));
  } else {
    fmt::print("{}", table.Text());
  }
}

}  // namespace

void AddSensitivityCommand(CLI::App& app) {
  auto options = std::make_shared<SensitivityOptions>();
  CLI::App* command =
      app.add_subcommand("sensitivity", "Rank parameters by their influence (Sobol indices)");
  command->add_option("scenario", options->scenario, "Scenario whose last search to analyse");
  command->add_option("--db", options->database, "Database of that search")
      ->option_text("FILE")
      ->default_str("NAME.db");
  command->add_option("--op", options->op, "Analyse the mapspace of an operation; see 'map'")
      ->option_text("OPERATION");
  command->add_option("--problem", options->problem, "The operation as a Timeloop file (YAML)")
      ->option_text("FILE");
  command->add_option("--arch", options->architecture, "Accelerator of the operation; see 'map'")
      ->option_text("ARCH");
  options->define.AddTo(*command);
  OneOf(command->add_option("--objective", options->objective, "Value to explain")
            ->option_text("NAME")
            ->capture_default_str(),
        {"energy", "delay", "edp"});
  command->add_option("--samples", options->samples, "Random mappings to evaluate")
      ->option_text("N")
      ->capture_default_str()
      ->check(AtLeastOne());
  AddEncodingOptions(*command, options->tiles, options->orders);
  Advanced(command->add_option("--seed", options->seed, "Seed of all random choices")
               ->option_text("N")
               ->capture_default_str());
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "'first' is the share of the value's variance that a parameter explains alone,\n"
      "'total' that with its interactions; +- is a 95 % confidence interval.\n"
      "\n"
      "Examples:\n"
      "  bayloom sensitivity flags.yaml           by the trials in flags.db\n"
      "  bayloom sensitivity --op matmul:64,128,512 --arch gemmini");
  command->callback([options] { RunSensitivity(*options); });
}

}  // namespace bayloom::cli
