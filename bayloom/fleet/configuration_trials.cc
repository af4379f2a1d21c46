// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/fleet/configuration_trials.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/one_line.h"
#include "bayloom/fleet/answer_seconds.h"
#include "bayloom/fleet/read_configuration.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/scenario_overrides.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/worker/remote_evaluator.h"

namespace bayloom::fleet {
namespace {

using Json = nlohmann::json;

search::Scenario ScenarioOf(const Json& definition) {
  const auto text = [&](const char* name) {
    const auto place = definition.find(name);
    return place != definition.end() && place->is_string() ? place->get<std::string>()
                                                           : std::string();
  };
  // A name with slashes would lead out of the folder.
  search::Scenario scenario = search::ParseScenario(text("text"), text("folder") + "/scenario");
  scenario.name = base::InOneLine(text("name"));
  if (const std::string command = text("command"); !command.empty()) {
    search::OverrideCommand(command, scenario);
  }
  if (definition.contains("sandbox")) scenario.evaluator.sandbox = true;
  if (scenario.evaluator.kind == search::EvaluatorKind::kNone) {
    throw InputError("the scenario does not say how a configuration is evaluated");
  }
  return scenario;
}

}  // namespace

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeRemoteEvaluator(
    worker::WorkerPool& pool, const search::Scenario& scenario, const std::string& command) {
  Json definition = {{"kind", kScenarioKind},
                     {"text", scenario.text},
                     {"folder", scenario.evaluator.here},
                     {"name", scenario.name}};
  if (!command.empty()) definition["command"] = command;
  if (scenario.evaluator.sandbox) definition["sandbox"] = true;
  return std::make_unique<worker::RemoteEvaluator<space::Configuration>>(
      pool, std::move(definition), scenario.evaluator.timeout + kAnswerMarginSeconds,
      [space = scenario.space](const space::Configuration& configuration) {
        return space::ToJson(*space, configuration);
      });
}

Result<std::unique_ptr<worker::Bench>> MakeScenarioBench(const Json& definition, int jobs) try {
  const search::Scenario scenario = ScenarioOf(definition);
  std::unique_ptr<worker::Bench> bench =
      std::make_unique<worker::EvaluatorBench<space::Configuration>>(
          search::MakeEvaluator(scenario.space, scenario.evaluator, jobs), jobs,
          [space = scenario.space](const Json& json, bool) {
            return ReadConfiguration(*space, json);
          });
  return bench;
} catch (const InputError& error) {
  return Error{error.what()};
}

}  // namespace bayloom::fleet
