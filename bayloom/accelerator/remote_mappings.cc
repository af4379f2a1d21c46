// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/remote_mappings.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/remote/answer_seconds.h"
#include "bayloom/remote/remote_evaluator.h"

namespace bayloom::accelerator {
namespace {

using Json = nlohmann::json;

/// A problem, an architecture and what evaluates mappings of one onto the other.
struct MappingSubject {
  explicit MappingSubject(const Json& definition)
      : model(mapspace::ParseProblemYaml(definition.at("problem").get<std::string>(), "problem"),
              mapspace::ParseArchitectureYaml(definition.at("architecture").get<std::string>(),
                                              "architecture"),
              definition.at("exact").get<bool>() ? mapspace::ReuseCounting::kExact
                                                 : mapspace::ReuseCounting::kTimeloop) {}

  mapspace::AnalyticalModel model;
};

MapOptions OptionsOf(const Json& definition, int jobs) {
  MapOptions options;
  options.search.objectives.clear();
  for (const Json& name : definition.at("objectives")) {
    options.search.objectives.push_back(mapspace::ParseMapObjective(name.get<std::string>()));
  }
  options.evaluator = definition.at("evaluator").get<std::string>();
  options.simulator.timeout_seconds = definition.at("timeout").get<double>();
  options.simulator.sandbox = definition.at("sandbox").get<bool>();
  options.simulator.jobs = jobs;
  return options;
}

}  // namespace

std::unique_ptr<trial::Evaluator<mapspace::Mapping>> MakeRemoteMappingEvaluator(
    remote::WorkerPool& pool, const mapspace::AnalyticalModel& model, const MapOptions& options) {
  CheckObjectives(options);
  Json objectives = Json::array();
  for (const mapspace::MapObjective objective : options.search.objectives) {
    objectives.push_back(std::string(mapspace::ToString(objective)));
  }
  Json definition = {{"kind", kMappingKind},
                     {"problem", mapspace::PrintProblemYaml(model.problem())},
                     {"architecture", mapspace::PrintArchitectureYaml(model.architecture())},
                     {"exact", options.counting == mapspace::ReuseCounting::kExact},
                     {"objectives", std::move(objectives)},
                     {"evaluator", options.evaluator},
                     {"timeout", options.simulator.timeout_seconds},
                     {"sandbox", options.simulator.sandbox}};
  return std::make_unique<remote::RemoteEvaluator<mapspace::Mapping>>(
      pool, std::move(definition), options.simulator.timeout_seconds + remote::kAnswerMarginSeconds,
      [&model](const mapspace::Mapping& mapping) {
        return mapspace::ToJson(mapping, model.problem(), model.architecture())["levels"];
      });
}

Result<std::unique_ptr<remote::CandidateEvaluator>> MakeMappingCandidateEvaluator(
    const Json& definition, int jobs) try {
  const auto subject = std::make_shared<const MappingSubject>(definition);
  std::unique_ptr<remote::CandidateEvaluator> evaluator =
      std::make_unique<remote::TypedCandidateEvaluator<mapspace::Mapping>>(
          MakeMappingEvaluator(subject->model, OptionsOf(definition, jobs)), jobs,
          [subject](const Json& json, bool) {
            return mapspace::MappingFromJson(json, subject->model.problem(),
                                             subject->model.architecture());
          });
  return evaluator;
} catch (const InputError& error) {
  return Error{error.what()};
} catch (const Json::exception&) {
  return Error{"the definition of a mapping's subject lacks a part"};
}

}  // namespace bayloom::accelerator
