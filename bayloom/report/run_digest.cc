// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_digest.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::report {
namespace {

/// Whether a candidate is of the last fidelity: of a search with fidelities, only these count.
std::function<bool(const std::string&)> FullFidelityTest(const record::RunRecord& run) {
  const auto all = [](const std::string&) { return true; };
  if (run.kind != record::RunKind::kSearch) return all;
  try {
    search::Scenario scenario = search::ScenarioOf(run);
    if (!scenario.optimizer_options.fidelity) return all;
    return [scenario = std::move(scenario)](const std::string& candidate) {
      const Result<space::Configuration> configuration =
          space::FromJson(*scenario.space, base::ParseJsonOrDiscard(candidate));
      return configuration && scenario.IsFull(*configuration);
    };
  } catch (const InputError&) {  // from another version, or damaged: shown as it is
    return all;
  }
}

std::string_view PartsOf(const record::RunRecord& run) {
  if (run.kind != record::RunKind::kMap) return "";
  const nlohmann::json definition = base::ParseJsonOrDiscard(run.definition);
  if (!definition.is_object()) return "";
  if (definition.contains("operators")) return "tiles of fused layers";
  if (definition.contains("cores")) return "divided layers";
  const bool has_layers = definition.contains("layers") && definition["layers"].is_array();
  return has_layers ? "layers" : "";
}

double LatencyOf(const std::map<record::TaskId, RunDigest::Task>& tasks) {
  double sum = 0;
  for (const auto& [id, task] : tasks) {
    if (task.weight > 0) sum += task.weight * task.seconds();
  }
  return sum;
}

}  // namespace

RunDigest::RunDigest(record::RunRecord run)
    : parts_(PartsOf(run)), is_full_(FullFidelityTest(run)) {
  SetRecord(std::move(run));
}

void RunDigest::SetRecord(record::RunRecord run) {
  run_ = std::move(run);
  if (!record::HasTasks(run_)) return;
  state_ = tuning::SessionState::Parse(run_.state).value_or(tuning::SessionState());
  for (const auto& [task, weight] : state_.weights) tasks_[task].weight = weight;
  for (const auto& [task, estimate] : state_.estimates) tasks_[task].estimate = estimate;
}

/// Older tunings did not record when a trial ended.
double RunDigest::ElapsedOf(const record::StoredTrial& trial) const {
  if (trial.elapsed > 0) return trial.elapsed;
  if (slot_ < state_.slots.size() && state_.slots[slot_].end > 0) return state_.slots[slot_].end;
  return 1e-6 * (static_cast<double>(trial.timestamp) - static_cast<double>(run_.started));
}

bool RunDigest::IsBetter(const record::StoredTrial& trial) const {
  const trial::Outcome& outcome = trial.outcome;
  if (!parts_.empty() || !outcome.ok() || !std::isfinite(outcome.value)) return false;
  if (measure::DetailsOf(outcome).cut_short) return false;
  if (record::HasTasks(run_))
    return outcome.value > 0 && outcome.value < tasks_.at(trial.task).best;
  if (!is_full_(trial.candidate)) return false;
  if (improvements_.empty()) return true;
  const double best = improvements_.back().value;
  return run_.maximize ? outcome.value > best : outcome.value < best;
}

RunDigest::Turn& RunDigest::TurnOf(record::TaskId task) {
  bool begins = turns_.empty() || turns_.back().task != task;
  while (slot_ < state_.slots.size() && slot_trials_ >= state_.slots[slot_].trials) {
    slot_trials_ -= state_.slots[slot_++].trials;
    begins = true;
  }
  if (begins) {
    turns_.push_back({.task = task, .before = tasks_[task].best});
    ++tasks_[task].turns;
  }
  ++slot_trials_;
  return turns_.back();
}

void RunDigest::Add(const record::StoredTrial& trial) {
  if (trial.ordinal < std::numeric_limits<int64_t>::max()) next_ = trial.ordinal + 1;
  Turn* const turn = record::HasTasks(run_) ? &TurnOf(trial.task) : nullptr;
  const double elapsed = ElapsedOf(trial);
  if (std::isfinite(elapsed)) seconds_ = std::max(seconds_, elapsed);
  if (trials_++ == 0) begin_ = seconds_;
  if (!trial.outcome.ok()) ++failures_[std::string(trial::ToString(trial.outcome.verdict))];
  if (IsBetter(trial)) {
    improvements_.push_back(
        {trial.task, trial.ordinal, trials_, elapsed, trial.outcome.value, trial.candidate});
  }
  if (turn == nullptr) return;
  Task& task = tasks_[trial.task];
  ++task.trials;
  if (!improvements_.empty() && improvements_.back().trials == trials_) {
    task.best = trial.outcome.value;
    task.best_trial = trial.ordinal;
  }
  ++turn->trials;
  turn->all_trials = trials_;
  turn->end = seconds_;
  turn->best = task.best;
}

double RunDigest::Latency() const { return tasks_.empty() ? kUnknown : LatencyOf(tasks_); }

int64_t RunDigest::EstimatedTasks() const {
  return std::ranges::count_if(
      tasks_, [](const auto& task) { return task.second.weight > 0 && task.second.IsEstimated(); });
}

std::vector<RunDigest::Point> RunDigest::Points() const {
  std::map<record::TaskId, Task> tasks = tasks_;
  for (auto& [id, task] : tasks) task.best = kUnknown;
  std::vector<Point> points;
  const auto add = [&](int64_t trials, double seconds) {
    points.push_back({trials, seconds, LatencyOf(tasks)});
  };
  if (trials_ > 0 && (improvements_.empty() || improvements_.front().trials > 1)) add(1, begin_);
  for (const Improvement& improvement : improvements_) {
    tasks[improvement.task].best = improvement.value;
    add(improvement.trials, improvement.elapsed);
  }
  if (!points.empty() && points.back().trials < trials_) add(trials_, seconds_);
  return points;
}

RunDigest DigestOf(record::Store& store, record::RunId run) {
  RunDigest digest(store.RunOf(run));
  for (const record::StoredTrial& trial : store.TrialsOfRun(run)) digest.Add(trial);
  return digest;
}

}  // namespace bayloom::report
