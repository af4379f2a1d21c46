#include <nlohmann/json.hpp>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/report/search_report.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom {
namespace {

using Json = nlohmann::json;

/// T4 knows fewer ways to fail.
std::string Invalidity(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "correct";
    case Verdict::kBuildError:
      return "compile";
    case Verdict::kTimeout:
      return "timeout";
    case Verdict::kWrongOutput:
      return "correctness";
    default:
      return "runtime";
  }
}

Json TrialT4(const Scenario& scenario, const StudyTrial& trial) {
  const Outcome& outcome = trial.outcome;
  const MeasurementDetails details = DetailsOf(outcome);
  constexpr double kMilliseconds = 1e3;
  Json measurements = Json::array();
  if (outcome.ok()) {
    measurements.push_back({{"name", scenario.objective}, {"value", outcome.value}, {"unit", ""}});
  }
  return {{"configuration", ToJson(*scenario.space, trial.configuration)},
          {"objectives", {scenario.objective}},
          {"invalidity", Invalidity(outcome.verdict)},
          {"correctness", outcome.ok() ? 1 : 0},
          {"measurements", std::move(measurements)},
          {"times",
           {{"compilation", kMilliseconds * details.build_seconds},
            {"framework", kMilliseconds * details.measure_seconds}}}};
}

}  // namespace

Json TrialsT4(const Scenario& scenario, std::span<const StudyTrial> trials) {
  Json results = Json::array();
  for (const StudyTrial& trial : trials) results.push_back(TrialT4(scenario, trial));
  return {{"schema_version", "1.0.0"},
          {"metadata", {{"timeunit", "milliseconds"}}},
          {"results", std::move(results)}};
}

}  // namespace bayloom
