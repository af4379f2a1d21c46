#include "bayloom/tuning/earlier_mappings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom {

RunRecord MapIdentity::ToRecord() const {
  RunRecord record;
  record.kind = RunKind::kMap;
  record.name = fmt::format("{} on {}", problem.Describe(), architecture.name);
  record.definition = nlohmann::json{
      {"problem", PrintProblemYaml(problem)},
      {"architecture", PrintArchitectureYaml(architecture)},
      {"evaluator",
       evaluator}}.dump();
  record.objective = objective;
  record.proposer = mapper;
  record.seed = seed;
  return record;
}

std::optional<RunRecord> LastSearchOf(const MapIdentity& identity, Store& store) {
  const RunRecord wanted = identity.ToRecord();
  std::optional<RunRecord> last;
  for (RunRecord& run : store.Runs(RunKind::kMap)) {
    const bool is_same = run.name == wanted.name && run.objective == wanted.objective &&
                         run.definition == wanted.definition;
    if (is_same) last = std::move(run);
  }
  return last;
}

Result<Mapping> ParseStoredMapping(const std::string& candidate, const Problem& problem,
                                   const Architecture& architecture) {
  return MappingFromJson(nlohmann::json::parse(candidate, nullptr, /*allow_exceptions=*/false),
                         problem, architecture);
}

std::vector<EarlierMappings> ReadEarlierMappings(Store& store, const std::string& objective) {
  std::vector<EarlierMappings> all;
  for (const RunRecord& run : store.Runs(RunKind::kMap)) {
    const nlohmann::json scenario = nlohmann::json::parse(run.definition, nullptr, false);
    if (!scenario.is_object() || run.objective != objective) continue;
    EarlierMappings earlier;
    earlier.name = run.name;
    earlier.problem = ParseProblemYaml(scenario.value("problem", ""), store.path());
    earlier.architecture = ParseArchitectureYaml(scenario.value("architecture", ""), store.path());
    for (const StoredTrial& trial : store.TrialsOfRun(run.id)) {
      if (!trial.outcome.ok()) continue;
      Result<Mapping> mapping =
          ParseStoredMapping(trial.candidate, earlier.problem, earlier.architecture);
      if (!mapping) continue;
      earlier.mappings.push_back(*std::move(mapping));
      earlier.values.push_back(trial.outcome.value);
    }
    if (!earlier.mappings.empty()) all.push_back(std::move(earlier));
  }
  return all;
}

}  // namespace bayloom
