// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/search_details.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/json.h"
#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/optimizer/sensitivity.h"
#include "bayloom/page/sanitized.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

/// A parameter with more values is not listed value by value.
constexpr int64_t kMaxListedValues = 64;
/// The time to rank parameters grows with the cube of the trials: so many take about a second.
constexpr size_t kMaxRankedTrials = 200;

Json ParametersJson(const space::Space& space) {
  Json parameters = Json::array();
  for (int i = 0; i < space.size(); ++i) {
    const space::Parameter& parameter = space.parameter(i);
    Json json = {{"name", Sanitized(parameter.name())},
                 {"kind", std::string(space::ToString(parameter.kind()))},
                 {"domain", Sanitized(parameter.Describe())}};
    if (space.conditions().IsConditional(i)) {
      json["active_if"] = Sanitized(space.conditions().Text(i));
    }
    const int64_t count = parameter.Cardinality();
    if (count > 0 && count <= kMaxListedValues) {
      for (int64_t rank = 0; rank < count; ++rank) {
        const Json value = space::ToJson(parameter.ValueAt(static_cast<double>(rank)));
        json["values"].push_back(
            value.is_number()
                ? value
                : Json(Sanitized(value.is_string() ? value.get<std::string>() : value.dump())));
      }
    }
    parameters.push_back(std::move(json));
  }
  return parameters;
}

/// The trials that parameters can be ranked by.
struct Samples {
  std::vector<space::Configuration> configurations;
  std::vector<double> values;
};

Samples SamplesOf(const space::Space& space, const std::vector<record::StoredTrial>& trials) {
  Samples all;
  for (const record::StoredTrial& trial : trials) {
    if (!trial.outcome.ok() || !std::isfinite(trial.outcome.value)) continue;
    const Result<space::Configuration> configuration =
        space::FromJson(space, base::ParseJsonOrDiscard(trial.candidate));
    if (!configuration || !space.Contains(*configuration)) continue;
    all.configurations.push_back(*configuration);
    all.values.push_back(trial.outcome.value);
  }
  return all;
}

/// As many as may be, evenly over the search.
Samples Thinned(const Samples& all) {
  const size_t count = std::min(all.values.size(), kMaxRankedTrials);
  Samples few;
  for (size_t i = 0; i < count; ++i) {
    const size_t place = i * all.values.size() / count;
    few.configurations.push_back(all.configurations[place]);
    few.values.push_back(all.values[place]);
  }
  return few;
}

Json EstimateJson(const model::Estimate& estimate) {
  return {{"value", Finite(estimate.value)}, {"half_width", Finite(estimate.half_width)}};
}

void AddImportance(const search::Scenario& scenario, const Samples& samples, Json& details) {
  const bool varies =
      std::ranges::adjacent_find(samples.values, std::not_equal_to()) != samples.values.end();
  if (samples.values.size() < 2 || !varies) return;
  base::RandomStream random(0);
  const std::vector<optimizer::ParameterSensitivity> ranking =
      optimizer::RankParameters(scenario.space, samples.configurations, samples.values, random);
  if (ranking.empty()) return;
  details["ranked_trials"] = samples.values.size();
  for (const optimizer::ParameterSensitivity& each : ranking) {
    details["importance"].push_back(
        {{"parameter", Sanitized(scenario.space->parameter(each.parameter).name())},
         {"first", EstimateJson(each.index.first)},
         {"total", EstimateJson(each.index.total)}});
  }
}

}  // namespace

nlohmann::json SearchDetails(record::Store& store, const record::RunRecord& run) {
  Json details = {{"id", run.id}};
  try {
    const search::Scenario scenario = search::ScenarioOf(run);
    details["parameters"] = ParametersJson(*scenario.space);
    details["feasible"] = Finite(scenario.space->CountFeasible());
    details["log10_feasible"] = Finite(scenario.space->Log10CountFeasible());
    for (const search::Objective& objective : scenario.objectives) {
      details["objectives"].push_back({{"name", Sanitized(objective.name)},
                                       {"goal", objective.maximize ? "maximize" : "minimize"}});
    }
    details["has_default"] = scenario.default_configuration.has_value();
    AddImportance(scenario, Thinned(SamplesOf(*scenario.space, store.TrialsOfRun(run.id))),
                  details);
  } catch (const InputError& error) {
    details["note"] = Sanitized(error.what());
  }
  return details;
}

}  // namespace bayloom::page
