// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/run_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "bayloom/base/json.h"
#include "bayloom/page/sanitized.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/report/run_summary.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

Json ImprovementJson(const report::RunDigest::Improvement& improvement) {
  const Json candidate = base::ParseJsonOrDiscard(improvement.candidate);
  return {
      {"trial", improvement.trial},
      {"elapsed", Finite(improvement.elapsed)},
      {"value", Finite(improvement.value)},
      {"candidate", candidate.is_discarded() ? Json(Sanitized(improvement.candidate)) : candidate}};
}

void AddTasks(const report::RunDigest& digest, Json& json) {
  Json& tasks = json["tasks"] = Json::array();
  for (const auto& [id, task] : digest.tasks()) {
    tasks.push_back({{"task", id},
                     {"weight", Finite(task.weight)},
                     {"slots", task.turns},
                     {"trials", task.trials},
                     {"best", Finite(task.best)},
                     {"estimate", Finite(task.estimate)},
                     {"best_trial", task.best_trial}});
  }
  json["latency"] = Finite(digest.Latency());
  json["estimated_tasks"] = digest.EstimatedTasks();
  const tuning::SessionState& state = digest.state();
  if (state.gain) json["over_zero_trial"] = tuning::ToJson(*state.gain);
  if (state.phases.Total() > 0) json["phases"] = tuning::ToJson(state.phases);
}

}  // namespace

nlohmann::json SanitizedTexts(const nlohmann::json& json) {
  if (json.is_string()) return SanitizedLines(json.get<std::string>());
  if (!json.is_structured()) return json;
  Json shown = json;
  for (Json& each : shown) each = SanitizedTexts(each);
  return shown;
}

nlohmann::json RunJson(const report::RunDigest& digest) {
  const record::RunRecord& run = digest.run();
  Json json = {{"id", run.id},
               {"kind", std::string(record::ToString(run.kind))},
               {"name", Sanitized(run.name)},
               {"by", Sanitized(report::ProposerOf(run))},
               {"scheduler", Sanitized(report::OptionOf(run, "scheduler"))},
               {"objective", Sanitized(run.objective)},
               {"goal", report::GoalOf(run)},
               {"seed", std::to_string(run.seed)},  // of 64 bits, which no JavaScript number has
               {"target", run.target ? Json(*run.target) : Json()},
               {"started", run.started},
               {"finished", run.finished},
               {"trials", digest.trials()},
               {"failures", digest.failures()},
               {"seconds", digest.seconds()}};
  if (record::HasTasks(run)) {
    AddTasks(digest, json);
    return json;
  }
  const auto& improvements = digest.improvements();
  json["best"] = improvements.empty() ? Json() : ImprovementJson(improvements.back());
  json["first"] = improvements.empty() ? Json() : ImprovementJson(improvements.front());
  const std::string unit = report::UnitOf(run);
  if (!unit.empty()) json["unit"] = unit;
  if (!digest.parts().empty()) json["parts"] = report::CountText(digest);
  if (const auto result = report::KeptResultOf(run)) {
    json["result"] = SanitizedTexts(report::ToJson(*result));
  }
  return json;
}

}  // namespace bayloom::page
