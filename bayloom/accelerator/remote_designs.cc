// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/remote_designs.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/remote/remote_evaluator.h"
#include "bayloom/search/read_configuration.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::accelerator {
namespace {

using Json = nlohmann::json;

Json ToJson(const std::vector<DesignNetwork>& networks) {
  Json json = Json::array();
  for (const DesignNetwork& network : networks) {
    Json layers = Json::array();
    for (const NetworkLayer& layer : network.layers) {
      layers.push_back({{"name", layer.name},
                        {"problem", mapspace::PrintProblemYaml(layer.problem)},
                        {"count", layer.count}});
    }
    json.push_back({{"name", network.name}, {"layers", std::move(layers)}});
  }
  return json;
}

std::vector<DesignNetwork> NetworksOf(const Json& json) {
  std::vector<DesignNetwork> networks;
  for (const Json& network : json) {
    DesignNetwork& read = networks.emplace_back();
    read.name = network.at("name").get<std::string>();
    for (const Json& layer : network.at("layers")) {
      read.layers.push_back(
          {layer.at("name").get<std::string>(),
           mapspace::ParseProblemYaml(layer.at("problem").get<std::string>(), "problem"),
           layer.at("count").get<int>()});
    }
  }
  return networks;
}

/// A limit of infinity is none: null in JSON.
Json LimitJson(double limit) { return std::isfinite(limit) ? Json(limit) : Json(); }

double LimitOf(const Json& limits, const char* name) {
  const Json& limit = limits.at(name);
  return limit.is_null() ? std::numeric_limits<double>::infinity() : limit.get<double>();
}

DesignEvaluatorOptions OptionsOf(const Json& definition) {
  DesignEvaluatorOptions options;
  options.objectives =
      ParseDesignObjectives(definition.at("objectives").get<std::vector<std::string>>());
  const Json& limits = definition.at("limits");
  options.limits = {LimitOf(limits, "area_mm2"), LimitOf(limits, "energy_pj"),
                    LimitOf(limits, "cycles")};
  options.evaluations = definition.at("evaluations").get<int64_t>();
  options.seed = definition.at("seed").get<uint64_t>();
  return options;
}

}  // namespace

std::unique_ptr<trial::Evaluator<space::Configuration>> MakeRemoteDesignTrials(
    remote::WorkerPool& pool, const DesignSpace& design, const DesignEvaluator& evaluator) {
  const DesignEvaluatorOptions& options = evaluator.options();
  Json objectives = Json::array();
  for (const DesignObjective objective : options.objectives) {
    objectives.push_back(std::string(ToString(objective)));
  }
  Json definition = {{"kind", kDesignKind},
                     {"space", design.text()},
                     {"path", design.path()},
                     {"networks", ToJson(evaluator.networks())},
                     {"technology", mapspace::PrintTechnology(evaluator.technology())},
                     {"objectives", std::move(objectives)},
                     {"limits",
                      {{"area_mm2", LimitJson(options.limits.area_mm2)},
                       {"energy_pj", LimitJson(options.limits.energy_pj)},
                       {"cycles", LimitJson(options.limits.cycles)}}},
                     {"evaluations", options.evaluations},
                     {"seed", options.seed}};
  return std::make_unique<remote::RemoteEvaluator<space::Configuration>>(
      pool, std::move(definition), /*answer_seconds=*/std::numeric_limits<double>::infinity(),
      [space = design.scenario().space](const space::Configuration& configuration) {
        return space::ToJson(*space, configuration);
      });
}

Result<std::unique_ptr<remote::CandidateEvaluator>> MakeDesignCandidateEvaluator(
    const Json& definition, int jobs) try {
  const auto design = std::make_shared<const DesignSpace>(DesignSpace::Parse(
      definition.at("space").get<std::string>(), definition.at("path").get<std::string>()));
  auto evaluator = std::make_shared<DesignEvaluator>(
      NetworksOf(definition.at("networks")),
      mapspace::ParseTechnology(definition.at("technology").get<std::string>(), "technology"),
      OptionsOf(definition));
  std::unique_ptr<remote::CandidateEvaluator> candidates =
      std::make_unique<remote::TypedCandidateEvaluator<space::Configuration>>(
          MakeDesignTrials(design, std::move(evaluator), jobs), jobs,
          [space = design->scenario().space](const Json& json, bool) {
            return search::ReadConfiguration(*space, json);
          });
  return candidates;
} catch (const InputError& error) {
  return Error{error.what()};
} catch (const Json::exception&) {
  return Error{"the definition of a design's subject lacks a part"};
}

}  // namespace bayloom::accelerator
