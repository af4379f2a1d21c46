// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/report/format.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::report {

namespace {

/// Adds up a run's trials, one after the other.
class SummaryWriter {
 public:
  explicit SummaryWriter(record::RunRecord record) {
    summary_.is_of_tiles = IsOfTiles(record);
    summary_.record = std::move(record);
  }

  /// `candidate` is called for improvements alone, which are of the last fidelity (`is_full`).
  template <typename Candidate>
  void Add(int64_t ordinal, double elapsed, const trial::Outcome& outcome, bool is_full,
           const Candidate& candidate) {
    ++summary_.trials;
    summary_.seconds = std::max(summary_.seconds, elapsed);
    if (!outcome.ok()) ++summary_.failures[std::string(trial::ToString(outcome.verdict))];
    if (!outcome.ok() || !is_full || measure::DetailsOf(outcome).cut_short ||
        !IsBetter(outcome.value))
      return;
    summary_.improvements.push_back({ordinal, elapsed, outcome.value, candidate()});
  }
  RunSummary Take() { return std::move(summary_); }

 private:
  bool IsBetter(double value) const {
    if (!std::isfinite(value) || summary_.is_of_tiles) return false;
    if (summary_.improvements.empty()) return true;
    const double best = summary_.improvements.back().value;
    return summary_.record.maximize ? value > best : value < best;
  }

  RunSummary summary_;
};

/// What a run's candidates are.
const char* NameOfCandidates(record::RunKind kind) {
  switch (kind) {
    case record::RunKind::kSearch:
      return "configuration";
    case record::RunKind::kMap:
      return "mapping";
    default:
      return "candidate";
  }
}

/// As JSON where it is that.
nlohmann::json CandidateOf(const RunSummary::Improvement& improvement) {
  nlohmann::json candidate = base::ParseJsonOrDiscard(improvement.candidate);
  return candidate.is_discarded() ? nlohmann::json(improvement.candidate) : candidate;
}

}  // namespace

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

RunSummary SummaryOf(record::Store& store, record::RunId run) {
  const record::RunRecord record = store.RunOf(run);
  const auto is_full = FullFidelityTest(record);
  SummaryWriter writer(record);
  for (record::StoredTrial& trial : store.TrialsOfRun(run)) {
    // Older tunings did not record when a trial ended.
    const double elapsed =
        trial.elapsed > 0
            ? trial.elapsed
            : 1e-6 * (static_cast<double>(trial.timestamp) - static_cast<double>(record.started));
    writer.Add(trial.ordinal, elapsed, trial.outcome, is_full(trial.candidate),
               [&] { return std::move(trial.candidate); });
  }
  return writer.Take();
}

RunSummary SummaryOf(const search::Scenario& scenario, std::span<const search::StudyTrial> trials) {
  record::RunRecord record;
  record.kind = record::RunKind::kSearch;
  record.name = scenario.name;
  record.objective = scenario.objectives[0].name;
  record.maximize = scenario.objectives[0].maximize;
  record.proposer = scenario.optimizer;
  record.seed = scenario.optimizer_options.seed;
  SummaryWriter writer(std::move(record));
  for (const search::StudyTrial& trial : trials) {
    writer.Add(trial.ordinal, trial.elapsed, trial.outcome, scenario.IsFull(trial.configuration),
               [&] { return space::ToJson(*scenario.space, trial.configuration).dump(); });
  }
  return writer.Take();
}

bool IsOfTiles(const record::RunRecord& run) {
  if (run.kind != record::RunKind::kMap) return false;
  const nlohmann::json definition = base::ParseJsonOrDiscard(run.definition);
  return definition.is_object() && definition.contains("operators");
}

std::string CountText(const RunSummary& summary) {
  return FormatCount(summary.trials) + (summary.is_of_tiles ? " tiles of fused layers" : " trials");
}

std::string FailureText(const RunSummary& summary) {
  std::string text;
  for (const auto& [verdict, count] : summary.failures) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", FormatCount(count), verdict);
  }
  return text.empty() ? "none" : text;
}

std::string ProposerOf(const record::RunRecord& run) {
  if (!run.proposer.empty()) return run.proposer;
  const nlohmann::json definition = base::ParseJsonOrDiscard(run.definition);
  const bool is_known = definition.is_object() && definition.contains("strategy") &&
                        definition["strategy"].is_string();
  return is_known ? definition["strategy"].get<std::string>() : "";
}

std::string GoalOf(const record::RunRecord& run) { return run.maximize ? "maximize" : "minimize"; }

Table ImprovementTable(const RunSummary& summary) {
  const std::string& objective = summary.record.objective;
  Table table({"trial", "elapsed", objective.empty() ? "value" : objective,
               NameOfCandidates(summary.record.kind)});
  for (const RunSummary::Improvement& improvement : summary.improvements) {
    table.AddRow({improvement.trial,
                  {improvement.elapsed, FormatSeconds(improvement.elapsed)},
                  {improvement.value, FormatValue(improvement.value)},
                  improvement.candidate});
  }
  return table;
}

nlohmann::json ToJson(const RunSummary& summary) {
  const record::RunRecord& run = summary.record;
  nlohmann::json improvements = nlohmann::json::array();
  for (const RunSummary::Improvement& improvement : summary.improvements) {
    improvements.push_back({{"trial", improvement.trial},
                            {"elapsed", improvement.elapsed},
                            {"value", improvement.value},
                            {"candidate", CandidateOf(improvement)}});
  }
  nlohmann::json json = {{"run", run.id},
                         {"kind", std::string(record::ToString(run.kind))},
                         {"name", run.name},
                         {"objective", run.objective},
                         {"goal", GoalOf(run)},
                         {"proposer", run.proposer},
                         {"seed", run.seed},
                         {"finished", run.finished},
                         {"trials", summary.trials},
                         {"failures", summary.failures},
                         {"seconds", summary.seconds},
                         {"best", improvements.empty() ? nlohmann::json() : improvements.back()},
                         {"improvements", improvements}};
  if (summary.is_of_tiles) json["tiles"] = summary.trials;
  return json;
}

}  // namespace bayloom::report
