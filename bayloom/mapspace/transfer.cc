// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/transfer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper.h"
#include "bayloom/trial/inline_evaluator.h"

namespace bayloom::mapspace {
namespace {

/// A mapspace with its encoding, as long as the encoding's space is in use.
struct EncodedMapspace {
  EncodedMapspace(const EarlierMappings& search, std::span<const Directive> constraints,
                  const std::string& tiles, const std::string& orders)
      : mapspace(search.problem, search.architecture, constraints),
        model(search.problem, search.architecture),
        encoding(MakeMappingEncoding(mapspace, model, tiles, orders)) {}

  Mapspace mapspace;
  AnalyticalModel model;
  std::unique_ptr<MappingEncoding> encoding;
};

optimizer::EarlierTask AsTask(const EarlierMappings& search, const Mapspace& target,
                              const std::string& tiles, const std::string& orders) {
  auto encoded = std::make_shared<EncodedMapspace>(search, target.directives(), tiles, orders);
  optimizer::EarlierTask task;
  task.name = search.name;
  task.description = DescribeTask(search.problem, search.architecture, target);
  for (size_t i = 0; i < search.mappings.size(); ++i) {
    Result<space::Configuration> configuration = encoded->encoding->Encode(search.mappings[i]);
    if (!configuration) continue;
    task.configurations.push_back(*std::move(configuration));
    task.values.push_back(search.values[i]);
  }
  const space::Space* space = encoded->encoding->space().get();
  task.space = std::shared_ptr<const space::Space>(std::move(encoded), space);
  return task;
}

/// By what a value of one problem is to be multiplied to be like one of another.
double WorkFactor(const Problem& from, const Problem& to, MapObjective objective) {
  const double work = static_cast<double>(to.Macs()) / static_cast<double>(from.Macs());
  if (objective == MapObjective::kEnergy) return 1;
  return objective == MapObjective::kDelay ? work : work * work;
}

}  // namespace

std::unique_ptr<trial::Evaluator<Mapping>> MakeListeningEvaluator(const AnalyticalModel& model,
                                                                  MapObjective objective,
                                                                  EarlierMappings& heard) {
  return std::make_unique<trial::InlineEvaluator<Mapping>>([&, objective](const Mapping& mapping) {
    trial::Outcome outcome = EvaluateByModel(model, {{objective}}, mapping);
    if (outcome.ok()) {
      heard.mappings.push_back(mapping);
      heard.values.push_back(outcome.value);
    }
    return outcome;
  });
}

std::vector<double> DescribeTask(const Problem& problem, const Architecture& architecture,
                                 const Mapspace& target) {
  std::vector<double> description;
  const auto add = [&](int64_t size) {
    description.push_back(std::log2(static_cast<double>(std::max<int64_t>(1, size))));
  };
  for (const std::string& dimension : target.problem().dimensions) {
    const int d = problem.DimensionNamed(dimension);
    add(d < 0 ? 1 : problem.bounds[d]);
  }
  for (const StorageLevel& level : target.architecture().levels) {
    const int l = architecture.LevelNamed(level.name);
    add(l < 0 ? 1 : architecture.levels[l].words);
    add(l < 0 ? 1 : architecture.levels[l].instances);
  }
  return description;
}

optimizer::TransferOptions LearnFrom(std::span<const EarlierMappings> searches,
                                     const std::string& method, MapObjective objective,
                                     const Mapspace& target, const std::string& tiles,
                                     const std::string& orders) {
  optimizer::TransferOptions options;
  options.method = method;
  options.description = DescribeTask(target.problem(), target.architecture(), target);
  for (const EarlierMappings& search : searches) {
    try {
      optimizer::EarlierTask task = AsTask(search, target, tiles, orders);
      if (task.values.empty()) continue;
      const double factor = WorkFactor(search.problem, target.problem(), objective);
      for (double& value : task.values) value *= factor;
      options.tasks.push_back(std::move(task));
    } catch (const InputError&) {
      // The target's constraints say nothing about, or leave nothing of, the other mapspace.
    }
  }
  return options;
}

EarlierMappings WarmStartFromModel(const Mapspace& mapspace, const AnalyticalModel& model,
                                   MapObjective objective, int64_t evaluations, uint64_t seed) {
  EarlierMappings heard;
  heard.name = "model";
  heard.problem = model.problem();
  heard.architecture = model.architecture();
  const auto listener = MakeListeningEvaluator(model, objective, heard);
  MapperOptions options;
  options.run.seed = seed;
  options.run.budget.trials = evaluations;
  RunMapper("genetic", mapspace, model, *listener, options);
  return heard;
}

}  // namespace bayloom::mapspace
