// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/run_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/page/sanitized.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/tuning/gain_in_turns.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

/// Older tunings did not record when a trial ended.
double ElapsedOf(const record::StoredTrial& trial, const record::RunRecord& run) {
  if (trial.elapsed > 0) return trial.elapsed;
  return 1e-6 * (static_cast<double>(trial.timestamp) - static_cast<double>(run.started));
}

Json BestJson(const std::optional<RunDigest::Best>& best) {
  if (!best) return {};
  const Json candidate = base::ParseJsonOrDiscard(best->candidate);
  return {{"trial", best->trial},
          {"elapsed", Finite(best->elapsed)},
          {"value", Finite(best->value)},
          {"candidate", candidate.is_discarded() ? Json(Sanitized(best->candidate)) : candidate}};
}

/// The scheduler of a tuning; empty for other runs.
std::string SchedulerOf(const record::RunRecord& run) {
  const Json options = base::ParseJsonOrDiscard(run.definition);
  if (!options.is_object() || !options.contains("scheduler")) return "";
  const Json& name = options["scheduler"];
  return name.is_string() ? name.get<std::string>() : "";
}

}  // namespace

bool HasTasks(const record::RunRecord& run) {
  return run.kind == record::RunKind::kTune || run.kind == record::RunKind::kDataset;
}

RunDigest::RunDigest(record::RunRecord run)
    : run_(std::move(run)),
      is_of_tiles_(report::IsOfTiles(run_)),
      is_full_(report::FullFidelityTest(run_)) {}

bool RunDigest::IsBetter(double value) const {
  if (is_of_tiles_) return false;
  if (!best_) return true;
  return run_.maximize ? value > best_->value : value < best_->value;
}

void RunDigest::Add(const record::StoredTrial& trial) {
  if (trial.ordinal < std::numeric_limits<int64_t>::max()) next_ = trial.ordinal + 1;
  ++trials_;
  const trial::Outcome& outcome = trial.outcome;
  const double elapsed = ElapsedOf(trial, run_);
  if (std::isfinite(elapsed)) seconds_ = std::max(seconds_, elapsed);
  if (!outcome.ok()) ++failures_[std::string(trial::ToString(outcome.verdict))];
  const bool is_exact =
      outcome.ok() && std::isfinite(outcome.value) && !measure::DetailsOf(outcome).cut_short;
  if (HasTasks(run_)) {
    Task& task = tasks_[trial.task];
    ++task.trials;
    if (!is_exact || outcome.value <= 0 || outcome.value >= task.best) return;
    task.best = outcome.value;
    task.best_trial = trial.ordinal;
    return;
  }
  if (!is_exact || !IsBetter(outcome.value) || !is_full_(trial.candidate)) return;
  best_ = {trial.ordinal, elapsed, outcome.value, trial.candidate};
  if (!first_) first_ = best_;
}

void RunDigest::AddTasks(Json& json) const {
  const tuning::SessionState state =
      tuning::SessionState::Parse(run_.state).value_or(tuning::SessionState());
  std::map<record::TaskId, Task> tasks = tasks_;
  for (const auto& [task, weight] : state.weights) tasks.try_emplace(task);
  for (const auto& [task, estimate] : state.estimates) tasks.try_emplace(task);
  std::map<record::TaskId, int64_t> slots;
  for (const tuning::Slot& slot : state.slots) ++slots[slot.task];
  double latency = 0;
  int64_t estimated = 0;
  Json listed = Json::array();
  for (const auto& [id, task] : tasks) {
    const auto weight = state.weights.find(id);
    const double times = weight == state.weights.end() ? 1 : weight->second;
    const auto estimate = state.estimates.find(id);
    const bool is_estimated = std::isinf(task.best) && estimate != state.estimates.end();
    if (times > 0) latency += times * (is_estimated ? estimate->second : task.best);
    estimated += is_estimated && times > 0;
    listed.push_back(
        {{"task", id},
         {"weight", Finite(times)},
         {"slots", slots[id]},
         {"trials", task.trials},
         {"best", Finite(task.best)},
         {"estimate", estimate == state.estimates.end() ? Json() : Finite(estimate->second)},
         {"best_trial", task.best_trial}});
  }
  json["tasks"] = std::move(listed);
  json["latency"] = tasks.empty() ? Json() : Finite(latency);
  json["estimated_tasks"] = estimated;
  if (state.gain) json["over_zero_trial"] = tuning::ToJson(*state.gain);
  if (state.phases.Total() > 0) {
    for (const run::NamedPhase& phase : run::kPhases) {
      json["phases"][phase.name] = Finite(state.phases.*phase.seconds);
    }
  }
}

nlohmann::json RunDigest::ToJson() const {
  Json json = {{"id", run_.id},
               {"kind", std::string(record::ToString(run_.kind))},
               {"name", Sanitized(run_.name)},
               {"by", Sanitized(report::ProposerOf(run_))},
               {"scheduler", Sanitized(SchedulerOf(run_))},
               {"objective", Sanitized(run_.objective)},
               {"goal", report::GoalOf(run_)},
               {"seed", std::to_string(run_.seed)},  // of 64 bits, which no JavaScript number has
               {"target", run_.target ? Json(*run_.target) : Json()},
               {"started", run_.started},
               {"finished", run_.finished},
               {"trials", trials_},
               {"failures", failures_},
               {"seconds", seconds_}};
  if (HasTasks(run_)) {
    AddTasks(json);
  } else {
    json["best"] = BestJson(best_);
    json["first"] = BestJson(first_);
    if (is_of_tiles_) json["tiles"] = trials_;
  }
  return json;
}

}  // namespace bayloom::page
