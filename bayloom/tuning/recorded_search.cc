#include "bayloom/tuning/recorded_search.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom {
namespace {

SearchRecord RecordOf(const Scenario& scenario) {
  SearchRecord record;
  record.name = scenario.name;
  record.scenario = scenario.text;
  record.objective = scenario.objective;
  record.maximize = scenario.maximize;
  record.optimizer = scenario.optimizer;
  record.seed = scenario.optimizer_options.seed;
  return record;
}

/// After an interruption the stream of random choices goes on elsewhere instead of over again.
uint64_t SeedAfter(uint64_t seed, size_t trials) {
  return trials == 0 ? seed : Hasher().Add(seed).Add(trials).Digest();
}

}  // namespace

SearchRecord FindSearch(SearchRecords& records, SearchId id) {
  for (const SearchRecord& record : records.Searches()) {
    if (record.id == id) return record;
  }
  throw InputError(fmt::format("{} has no search {}", records.path(), id));
}

Scenario ScenarioOf(const SearchRecord& record) {
  Scenario scenario = ParseScenario(record.scenario, record.name);
  scenario.name = record.name;
  scenario.optimizer = record.optimizer;
  return scenario;
}

std::vector<SearchTrial> ReadSearchTrials(const Space& space, SearchRecords& records,
                                          SearchId search) {
  std::vector<SearchTrial> trials;
  for (const ConfigurationTrial& kept : records.TrialsOf(search)) {
    const auto json =
        nlohmann::json::parse(kept.configuration, nullptr, /*allow_exceptions=*/false);
    const Result<Configuration> configuration = FromJson(space, json);
    if (!configuration || !space.Contains(*configuration)) {
      throw InputError(
          fmt::format("{}: trial {} of search {} does not fit the scenario any more{}{}; begin a "
                      "new search, without --resume",
                      records.path(), kept.ordinal, search, configuration ? "" : ": ",
                      configuration ? "" : configuration.error().message));
    }
    trials.push_back({kept.ordinal, *configuration, kept.outcome, kept.elapsed});
  }
  return trials;
}

RecordedSearch::RecordedSearch(const Scenario& scenario, SearchRecords& records, bool resume)
    : records_(records) {
  std::vector<SearchTrial> earlier;
  const std::optional<SearchRecord> last = resume ? records.Last(scenario.name) : std::nullopt;
  if (last) {
    if (last->objective != scenario.objective || last->maximize != scenario.maximize) {
      throw InputError(fmt::format("--resume: the search in {} was begun to {} '{}'",
                                   records.path(), last->maximize ? "maximize" : "minimize",
                                   last->objective));
    }
    record_ = *last;
    resumed_ = true;
    earlier = ReadSearchTrials(*scenario.space, records, record_.id);
    records.SetFinished(record_.id, false);
  } else {
    record_ = records.Begin(RecordOf(scenario));
  }
  OptimizerOptions options = scenario.optimizer_options;
  options.seed = SeedAfter(options.seed, earlier.size());
  search_ = std::make_unique<Search>(
      scenario, MakeOptimizer(scenario.optimizer, scenario.space, options),
      [this, space = scenario.space](const SearchTrial& trial) {
        records_.AddTrial({record_.id, trial.ordinal, ToJson(*space, trial.configuration).dump(),
                           trial.outcome, trial.elapsed, 0});
      });
  for (const SearchTrial& trial : earlier) search_->Recall(trial);
}

}  // namespace bayloom
