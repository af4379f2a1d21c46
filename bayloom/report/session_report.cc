// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/session_report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

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

Cell Seconds(double seconds) { return {seconds, FormatSeconds(seconds)}; }
Cell Percent(double share) {
  return {share, std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"};
}

double Mean(const std::vector<double>& values, size_t begin, size_t end) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                         values.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(end - begin);
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

Table LatencyTable(const SessionReport& report) {
  Table table({"trials", "time", "latency", "of the last"});
  const int64_t trials = report.digest.trials();
  for (int eighth = 1; eighth <= 8; ++eighth) {
    const RunDigest::Point point = report.After(trials * eighth / 8);
    const double of_last = point.latency / report.digest.Latency();
    table.AddRow({trials * eighth / 8,
                  Seconds(point.seconds),
                  Seconds(point.latency),
                  {of_last, FormatRatio(of_last)}});
  }
  return table;
}

Table TaskTable(const SessionReport& report) {
  Table table({"task", "name", "weight", "slots", "trials", "best", "share"});
  const double latency = report.digest.Latency();
  for (const auto& [id, task] : report.digest.tasks()) {
    table.AddRow({id,
                  report.names.at(id),
                  {task.weight, fmt::format("{:g}", task.weight)},
                  task.turns,
                  task.trials,
                  {task.best, task.IsEstimated()         ? "~" + FormatSeconds(task.estimate)
                              : std::isfinite(task.best) ? FormatSeconds(task.best)
                                                         : "-"},
                  Percent(task.weight == 0 ? 0 : task.weight * task.seconds() / latency)});
  }
  return table;
}

Table PhaseTable(const SessionReport& report) {
  Table table({"phase", "time", "share"});
  const run::PhaseTimes& phases = report.digest.state().phases;
  if (phases.Total() <= 0) return table;
  for (const run::NamedPhase& phase : run::kPhases) {
    const double seconds = phases.*phase.seconds;
    table.AddRow({phase.name, Seconds(seconds), Percent(seconds / phases.Total())});
  }
  return table;
}

Table TurnTable(const SessionReport& report) {
  Table table({"slot", "task", "name", "trials", "time", "gain", "latency"});
  int64_t number = 0;
  for (const RunDigest::Turn& turn : report.digest.turns()) {
    const double weight = report.digest.tasks().at(turn.task).weight;
    const double gain = std::isinf(turn.before) ? std::nan("") : weight * (turn.before - turn.best);
    table.AddRow({++number, turn.task, report.names.at(turn.task), turn.trials, Seconds(turn.end),
                  Seconds(gain), Seconds(report.After(turn.all_trials).latency)});
  }
  return table;
}

Table ModelTable(const SessionReport& report) {
  Table table({"batches", "rmse", "rank correlation", "pairs in order", "recall of best quarter"});
  const auto metric = [&](const char* name) {
    const auto found = report.model.find(name);
    return found == report.model.end() ? std::vector<double>() : found->second;
  };
  const std::vector<double> columns[] = {metric("rmse"), metric("spearman"),
                                         metric("pairwise_accuracy"), metric("top_recall")};
  const size_t batches = columns[0].size();
  for (size_t quarter = 0; quarter < 4; ++quarter) {
    const size_t begin = batches * quarter / 4, end = batches * (quarter + 1) / 4;
    if (begin == end) continue;
    std::vector<Cell> row = {fmt::format("{} .. {}", begin + 1, end)};
    for (const std::vector<double>& values : columns) {
      if (values.size() != batches) return table;
      const double mean = Mean(values, begin, end);
      row.emplace_back(mean, fmt::format("{:.3f}", mean));
    }
    table.AddRow(row);
  }
  return table;
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
          {"phases", state.phases.Total() > 0 ? tuning::ToJson(state.phases) : nlohmann::json()},
          {"cost_model", report.model}};
}

}  // namespace bayloom::report
