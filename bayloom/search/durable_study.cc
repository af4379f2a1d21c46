// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/durable_study.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::search {
namespace {

record::RunRecord RecordOf(const Scenario& scenario) {
  record::RunRecord record;
  record.kind = record::RunKind::kSearch;
  record.name = scenario.name;
  record.definition = scenario.text;
  record.objective = scenario.objectives[0].name;
  record.maximize = scenario.objectives[0].maximize;
  record.proposer = scenario.optimizer;
  record.seed = scenario.optimizer_options.seed;
  return record;
}

/// Throws InputError where the last study of this name looked for something else.
std::optional<record::RunRecord> LastStudyOf(const Scenario& scenario, record::Store& store) {
  std::optional<record::RunRecord> last = store.LastRun(record::RunKind::kSearch, scenario.name);
  const bool is_same = !last || (last->objective == scenario.objectives[0].name &&
                                 last->maximize == scenario.objectives[0].maximize &&
                                 ScenarioOf(*last).objectives == scenario.objectives);
  if (!is_same) {
    throw InputError(fmt::format("cannot resume the search in {}: it was begun to {} '{}'",
                                 store.path(), last->maximize ? "maximize" : "minimize",
                                 last->objective));
  }
  return last;
}

}  // namespace

uint64_t SeedAfter(uint64_t seed, size_t trials) {
  return trials == 0 ? seed : base::Hasher().Add(seed).Add(trials).Digest();
}

record::RunRecord FindStudy(record::Store& store, record::RunId id) {
  record::RunRecord record = store.RunOf(id);
  if (record.kind == record::RunKind::kSearch) return record;
  throw InputError(fmt::format("run {} of {} searched no scenario", id, store.path()));
}

Scenario ScenarioOf(const record::RunRecord& record) {
  Scenario scenario = ParseScenario(record.definition, record.name, record.name);
  scenario.optimizer = record.proposer;
  return scenario;
}

std::vector<StudyTrial> ReadStudyTrials(const space::Space& space, record::Store& store,
                                        record::RunId study) {
  std::vector<StudyTrial> trials;
  for (const record::StoredTrial& kept : store.TrialsOfRun(study)) {
    const auto json = base::ParseJsonOrDiscard(kept.candidate);
    const Result<space::Configuration> configuration = space::FromJson(space, json);
    if (!configuration || !space.Contains(*configuration)) {
      throw InputError(
          fmt::format("{}: trial {} of search {} does not fit the scenario any more{}{}; begin a "
                      "new search instead of resuming this one",
                      store.path(), kept.ordinal, study, configuration ? "" : ": ",
                      configuration ? "" : configuration.error().message));
    }
    trials.push_back({kept.ordinal, *configuration, kept.outcome, kept.elapsed});
  }
  return trials;
}

DurableStudy::DurableStudy(const Scenario& scenario, record::Store& store, bool resume)
    : run_(store, RecordOf(scenario), resume ? LastStudyOf(scenario, store) : std::nullopt) {
  if (resumed()) earlier_ = ReadStudyTrials(*scenario.space, store, record().id);
  optimizer::OptimizerOptions options = scenario.optimizer_options;
  options.seed = SeedAfter(options.seed, earlier_.size());
  trials_ = run_.Trials();
  study_ = std::make_unique<Study>(
      scenario, optimizer::MakeOptimizer(scenario.optimizer, scenario.space, options),
      trials_.get());
  for (const StudyTrial& trial : earlier_) {
    study_->Learn(trial.configuration, trial.outcome, trial.elapsed);
  }
}

}  // namespace bayloom::search
