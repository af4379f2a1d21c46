// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/report/search_report.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::report {
namespace {

using Json = nlohmann::json;

/// T4 knows fewer ways to fail.
std::string Invalidity(trial::Verdict verdict) {
  switch (verdict) {
    case trial::Verdict::kOk:
      return "correct";
    case trial::Verdict::kBuildError:
      return "compile";
    case trial::Verdict::kTimeout:
      return "timeout";
    case trial::Verdict::kWrongOutput:
      return "correctness";
    default:
      return "runtime";
  }
}

Json TrialT4(const search::Scenario& scenario, const search::StudyTrial& trial) {
  const trial::Outcome& outcome = trial.outcome;
  const measure::MeasurementDetails details = measure::DetailsOf(outcome);
  constexpr double kMilliseconds = 1e3;
  Json measurements = Json::array();
  const std::vector<search::Objective> objectives = scenario.objectives;
  Json names = Json::array();
  for (const search::Objective& objective : objectives) names.push_back(objective.name);
  if (outcome.ok()) {
    const std::vector<double> values = search::ValuesOf(outcome, objectives);
    for (size_t k = 0; k < values.size(); ++k) {
      measurements.push_back({{"name", objectives[k].name}, {"value", values[k]}, {"unit", ""}});
    }
  }
  return {{"configuration", space::ToJson(*scenario.space, trial.configuration)},
          {"objectives", std::move(names)},
          {"invalidity", Invalidity(outcome.verdict)},
          {"correctness", outcome.ok() ? 1 : 0},
          {"measurements", std::move(measurements)},
          {"times",
           {{"compilation", kMilliseconds * details.build_seconds},
            {"framework", kMilliseconds * details.measure_seconds}}}};
}

}  // namespace

Json TrialsT4(const search::Scenario& scenario, std::span<const search::StudyTrial> trials) {
  Json results = Json::array();
  for (const search::StudyTrial& trial : trials) results.push_back(TrialT4(scenario, trial));
  return {{"schema_version", "1.0.0"},
          {"metadata", {{"timeunit", "milliseconds"}}},
          {"results", std::move(results)}};
}

}  // namespace bayloom::report
