// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/earlier_mappings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::accelerator {

record::RunRecord MapIdentity::ToRecord() const {
  record::RunRecord record;
  record.kind = record::RunKind::kMap;
  record.name = fmt::format("{} on {}", problem.Describe(), architecture.name);
  nlohmann::json definition = {{"problem", mapspace::PrintProblemYaml(problem)},
                               {"architecture", mapspace::PrintArchitectureYaml(architecture)},
                               {"evaluator", evaluator}};
  if (!constraints.empty()) {
    definition["constraints"] = mapspace::PrintConstraintsYaml(constraints);
  }
  if (counting == mapspace::ReuseCounting::kTimeloop) definition["reuse"] = "timeloop";
  record.definition = definition.dump();
  record.objective = objective;
  record.proposer = mapper;
  record.seed = seed;
  return record;
}

std::optional<record::RunRecord> LastSearchOf(const MapIdentity& identity, record::Store& store) {
  const record::RunRecord wanted = identity.ToRecord();
  std::optional<record::RunRecord> last;
  for (record::RunRecord& run : store.Runs(record::RunKind::kMap)) {
    const bool is_same = run.name == wanted.name && run.objective == wanted.objective &&
                         run.definition == wanted.definition;
    if (is_same) last = std::move(run);
  }
  return last;
}

Result<mapspace::Mapping> ParseStoredMapping(const std::string& candidate,
                                             const mapspace::Problem& problem,
                                             const mapspace::Architecture& architecture) {
  return mapspace::MappingFromJson(base::ParseJsonOrDiscard(candidate), problem, architecture);
}

std::vector<mapspace::EarlierMappings> ReadEarlierMappings(record::Store& store,
                                                           const std::string& objective) {
  std::vector<mapspace::EarlierMappings> all;
  for (const record::RunRecord& run : store.Runs(record::RunKind::kMap)) {
    const nlohmann::json scenario = base::ParseJsonOrDiscard(run.definition);
    // A network's fused groups are no problem by themselves.
    if (!scenario.is_object() || !scenario.contains("problem")) continue;
    if (run.objective != objective) continue;
    mapspace::EarlierMappings earlier;
    earlier.name = run.name;
    earlier.problem = mapspace::ParseProblemYaml(scenario.value("problem", ""), store.path());
    earlier.architecture =
        mapspace::ParseArchitectureYaml(scenario.value("architecture", ""), store.path());
    for (const record::StoredTrial& trial : store.TrialsOfRun(run.id)) {
      if (!trial.outcome.ok()) continue;
      Result<mapspace::Mapping> mapping =
          ParseStoredMapping(trial.candidate, earlier.problem, earlier.architecture);
      if (!mapping) continue;
      earlier.mappings.push_back(*std::move(mapping));
      earlier.values.push_back(trial.outcome.value);
    }
    if (!earlier.mappings.empty()) all.push_back(std::move(earlier));
  }
  return all;
}

}  // namespace bayloom::accelerator
