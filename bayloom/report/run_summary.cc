// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/record/json_text.h"
#include "bayloom/report/format.h"

namespace bayloom::report {

RunSummary SummaryOf(record::Store& store, record::RunId run) {
  RunSummary summary;
  summary.record = store.RunOf(run);
  for (record::StoredTrial& trial : store.TrialsOfRun(run)) {
    ++summary.trials;
    // Older tunings did not record when a trial ended.
    const double elapsed =
        trial.elapsed > 0 ? trial.elapsed
                          : 1e-6 * static_cast<double>(trial.timestamp - summary.record.started);
    summary.seconds = std::max(summary.seconds, elapsed);
    if (!trial.outcome.ok())
      ++summary.failures[std::string(trial::ToString(trial.outcome.verdict))];
    if (!trial.outcome.ok() || measure::DetailsOf(trial.outcome).cut_short) continue;
    const double value = trial.outcome.value;
    const bool is_better = summary.improvements.empty() ||
                           (summary.record.maximize ? value > summary.improvements.back().value
                                                    : value < summary.improvements.back().value);
    if (!is_better) continue;
    summary.improvements.push_back({trial.ordinal, elapsed, value, std::move(trial.candidate)});
  }
  return summary;
}

std::string FailureText(const RunSummary& summary) {
  std::string text;
  for (const auto& [verdict, count] : summary.failures) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", FormatCount(count), verdict);
  }
  return text.empty() ? "none" : text;
}

std::string GoalOf(const record::RunRecord& run) { return run.maximize ? "maximize" : "minimize"; }

Table ImprovementTable(const RunSummary& summary) {
  const std::string& objective = summary.record.objective;
  Table table({"trial", "elapsed", objective.empty() ? "value" : objective, "candidate"});
  for (const RunSummary::Improvement& improvement : summary.improvements) {
    table.AddRow({improvement.trial,
                  {improvement.elapsed, FormatSeconds(improvement.elapsed)},
                  {improvement.value, FormatValue(improvement.value)},
                  improvement.candidate});
  }
  return table;
}

LineChart ProgressChart(const RunSummary& summary) {
  LineChart chart;
  chart.title = summary.record.name;
  chart.x_label = "trials";
  chart.y_label = fmt::format("{} {} so far", summary.record.maximize ? "greatest" : "least",
                              summary.record.objective);
  LineChart::Series series;
  series.name = summary.record.proposer;
  series.steps = true;
  for (const RunSummary::Improvement& improvement : summary.improvements) {
    series.points.emplace_back(static_cast<double>(improvement.trial + 1), improvement.value);
  }
  if (!series.points.empty()) {
    const auto [least, greatest] =
        std::minmax(series.points.front().second, series.points.back().second);
    chart.log_y = least > 0 && greatest > 20 * least;
    series.points.emplace_back(static_cast<double>(summary.trials), series.points.back().second);
  }
  chart.series.push_back(std::move(series));
  return chart;
}

nlohmann::json ToJson(const RunSummary& summary) {
  const record::RunRecord& run = summary.record;
  nlohmann::json improvements = nlohmann::json::array();
  for (const RunSummary::Improvement& improvement : summary.improvements) {
    improvements.push_back({{"trial", improvement.trial},
                            {"elapsed", improvement.elapsed},
                            {"value", improvement.value},
                            {"candidate", record::EmbedJson(improvement.candidate)}});
  }
  return {{"run", run.id},
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
}

}  // namespace bayloom::report
