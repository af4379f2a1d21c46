// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/session_report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/report/format.h"
#include "bayloom/report/run_summary.h"

namespace bayloom::report {
namespace {

std::string LabelOf(const record::RunRecord& record) {
  const std::string scheduler = OptionOf(record, "scheduler"),
                    strategy = OptionOf(record, "strategy");
  if (scheduler.empty() && strategy.empty()) return fmt::format("run {}", record.id);
  const nlohmann::json options = base::ParseJsonOrDiscard(record.definition);
  const nlohmann::json prior = options.value("prior", nlohmann::json());
  const bool has_prior =
      prior.is_object() && prior.contains("trials") && prior["trials"].is_number();
  return fmt::format(
      "{}, {}, seed {}{}", scheduler.empty() ? "?" : scheduler, strategy.empty() ? "?" : strategy,
      record.seed,
      has_prior ? fmt::format(", prior of {} trials", FormatCount(prior["trials"].get<int64_t>()))
                : "");
}

}  // namespace

RunDigest::Point SessionReport::After(int64_t trials) const {
  RunDigest::Point last;
  for (const RunDigest::Point& point : points) {
    if (point.trials > trials) break;
    last = point;
  }
  return last;
}

SessionReport ReportOf(record::Store& store, record::RunId run) {
  SessionReport report = {.digest = DigestOf(store, run)};
  report.label = LabelOf(report.digest.run());
  report.points = report.digest.Points();
  for (const auto& [id, task] : report.digest.tasks()) report.names[id] = "unknown";
  for (const record::TaskRecord& task : store.Tasks()) {
    const auto place = report.names.find(task.id);
    if (place != report.names.end()) place->second = task.name;
  }
  for (const record::Metric& metric : store.MetricsOf(run)) {
    report.model[metric.name].push_back(metric.value);
  }
  return report;
}

nlohmann::json ToJson(const SessionReport& report) {
  const auto finite = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  const RunDigest& digest = report.digest;
  const record::RunRecord& run = digest.run();
  const tuning::SessionState& state = digest.state();
  nlohmann::json points = nlohmann::json::array();
  for (const RunDigest::Point& point : report.points) {
    points.push_back({point.trials, point.seconds, finite(point.latency)});
  }
  nlohmann::json phases;
  if (state.phases.Total() > 0) {
    for (const run::NamedPhase& phase : run::kPhases)
      phases[phase.name] = state.phases.*phase.seconds;
  }
  const nlohmann::json options = base::ParseJsonOrDiscard(run.definition);
  return {{"estimated_tasks", digest.EstimatedTasks()},
          {"gain", state.gain ? tuning::ToJson(*state.gain) : nlohmann::json()},
          {"run", run.id},
          {"kind", std::string(record::ToString(run.kind))},
          {"model", run.name},
          {"label", report.label},
          {"options", options.is_discarded() ? nlohmann::json(run.definition) : options},
          {"seed", run.seed},
          {"trials", digest.trials()},
          {"seconds", digest.seconds()},
          {"latency", finite(digest.Latency())},
          {"latency_after", points},
          {"tasks", TaskTable(report).Json()},
          {"slots", TurnTable(report).Json()},
          {"phases", phases},
          {"cost_model", report.model}};
}

}  // namespace bayloom::report
