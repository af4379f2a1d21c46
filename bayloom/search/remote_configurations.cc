// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/remote_configurations.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/remote/answer_seconds.h"
#include "bayloom/remote/remote_evaluator.h"
#include "bayloom/search/evaluator.h"
#include "bayloom/search/read_configuration.h"
#include "bayloom/search/scenario_overrides.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::search {
namespace {

using Json = nlohmann::json;

Scenario ScenarioOf(const Json& definition) {
  const auto text = [&](const char* name) {
    const auto place = definition.find(name);
    return place != definition.end() && place->is_string() ? place->get<std::string>()
                                                           : std::string();
  };
  // A name with slashes would lead out of the folder.
  Scenario scenario =
      ParseScenario(text("text"), text("folder") + "/scenario", base::SingleLine(text("name")));
  if (const std::string command = text("command"); !command.empty()) {
    OverrideCommand(command, scenario);
  }
  if (definition.contains("sandbox")) scenario.evaluator.sandbox = true;
  if (scenario.evaluator.kind == EvaluatorKind::kNone) {
    throw InputError("the scenario does not say how a configuration is evaluated");
  }
  return scenario;
}

}  // namespace

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeRemoteEvaluator(
    remote::WorkerPool& pool, const Scenario& scenario, const std::string& command) {
  Json definition = {{"kind", kScenarioKind},
                     {"text", scenario.text},
                     {"folder", scenario.evaluator.here},
                     {"name", scenario.name}};
  if (!command.empty()) definition["command"] = command;
  if (scenario.evaluator.sandbox) definition["sandbox"] = true;
  return std::make_unique<remote::RemoteEvaluator<space::Configuration>>(
      pool, std::move(definition), scenario.evaluator.timeout + remote::kAnswerMarginSeconds,
      [space = scenario.space](const space::Configuration& configuration) {
        return space::ToJson(*space, configuration);
      });
}

Result<std::unique_ptr<remote::CandidateEvaluator>> MakeScenarioCandidateEvaluator(
    const Json& definition, int jobs, const EvaluatorMaker& make) try {
  const Scenario scenario = ScenarioOf(definition);
  std::unique_ptr<trial::Evaluator<space::Configuration>> own = make ? make(scenario) : nullptr;
  if (own == nullptr) own = MakeEvaluator(scenario.space, scenario.evaluator, jobs);
  std::unique_ptr<remote::CandidateEvaluator> evaluator =
      std::make_unique<remote::TypedCandidateEvaluator<space::Configuration>>(
          std::move(own), jobs, [space = scenario.space](const Json& json, bool) {
            return ReadConfiguration(*space, json);
          });
  return evaluator;
} catch (const InputError& error) {
  return Error{error.what()};
}

}  // namespace bayloom::search
