#include "bayloom/tuning/map_records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom {
namespace {

constexpr double kFlushSeconds = 0.2;

std::string ScenarioOf(const MapSearchIdentity& identity) {
  return nlohmann::json{{"problem", PrintProblemYaml(identity.problem)},
                        {"architecture", PrintArchitectureYaml(identity.architecture)},
                        {"evaluator", identity.evaluator}}
      .dump();
}

/// Null if the search was not one for mappings.
nlohmann::json MapScenario(const SearchRecord& search) {
  nlohmann::json scenario = nlohmann::json::parse(search.scenario, nullptr, false);
  const bool is_map = scenario.is_object() && scenario.contains("problem") &&
                      scenario.contains("architecture") && scenario.contains("evaluator");
  return is_map ? scenario : nlohmann::json();
}

std::optional<SearchRecord> LastOf(const MapSearchIdentity& identity, SearchRecords& records) {
  std::optional<SearchRecord> last;
  const std::string scenario = ScenarioOf(identity);
  for (SearchRecord& search : records.Searches()) {
    if (search.name == identity.Name() && search.objective == identity.objective &&
        search.scenario == scenario) {
      last = std::move(search);
    }
  }
  return last;
}

}  // namespace

std::string MapSearchIdentity::Name() const {
  return fmt::format("{} on {}", problem.Describe(), architecture.name);
}

RecordedEvaluator::RecordedEvaluator(std::unique_ptr<MappingEvaluator> evaluator,
                                     const MapSearchIdentity& identity, SearchRecords& records,
                                     bool resume)
    : evaluator_(std::move(evaluator)),
      identity_(identity),
      records_(records),
      began_(MonotonicSeconds()),
      flushed_(began_) {
  if (std::optional<SearchRecord> last = resume ? LastOf(identity, records) : std::nullopt) {
    record_ = *std::move(last);
    for (ConfigurationTrial& trial : records.TrialsOf(record_.id)) {
      known_.emplace(std::move(trial.configuration), std::move(trial.outcome));
      began_ = flushed_ - trial.elapsed;
    }
    recalled_ = std::ssize(known_);
    return;
  }
  SearchRecord record;
  record.name = identity.Name();
  record.scenario = ScenarioOf(identity);
  record.objective = identity.objective;
  record.optimizer = identity.mapper;
  record.seed = identity.seed;
  record_ = records.Begin(record);
}

RecordedEvaluator::~RecordedEvaluator() {
  try {
    Flush();
  } catch (const InputError&) {
    // What was not durable is evaluated again by whoever resumes.
  }
}

Outcome RecordedEvaluator::Evaluate(const Mapping& mapping) {
  std::string key = ToJson(mapping, identity_.problem, identity_.architecture).at("levels").dump();
  const auto [place, is_new] = known_.try_emplace(std::move(key));
  if (!is_new) return place->second;
  place->second = evaluator_->Evaluate(mapping);
  waiting_.push_back({record_.id, std::ssize(known_) - 1, place->first, place->second,
                      MonotonicSeconds() - began_, UnixMicroseconds()});
  if (identity_.evaluator != "model" || MonotonicSeconds() - flushed_ > kFlushSeconds) Flush();
  return place->second;
}

void RecordedEvaluator::Flush() {
  if (waiting_.empty()) return;
  records_.AddTrials(waiting_);
  waiting_.clear();
  flushed_ = MonotonicSeconds();
}

std::vector<EarlierMappings> ReadEarlierMappings(SearchRecords& records,
                                                 const std::string& objective) {
  std::vector<EarlierMappings> all;
  for (const SearchRecord& search : records.Searches()) {
    const nlohmann::json scenario = MapScenario(search);
    if (scenario.is_null() || search.objective != objective) continue;
    EarlierMappings earlier;
    earlier.name = search.name;
    earlier.problem = ParseProblemYaml(scenario.at("problem"), records.path());
    earlier.architecture = ParseArchitectureYaml(scenario.at("architecture"), records.path());
    for (const ConfigurationTrial& trial : records.TrialsOf(search.id)) {
      if (!trial.outcome.ok()) continue;
      const Result<Mapping> mapping =
          MappingFromJson(nlohmann::json::parse(trial.configuration, nullptr, false),
                          earlier.problem, earlier.architecture);
      if (!mapping) continue;
      earlier.mappings.push_back(*mapping);
      earlier.values.push_back(trial.outcome.value);
    }
    if (!earlier.mappings.empty()) all.push_back(std::move(earlier));
  }
  return all;
}

}  // namespace bayloom
