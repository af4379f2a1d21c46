// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "bayloom/report/format.h"
#include "bayloom/report/session_report.h"

namespace bayloom::report {
namespace {

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

Table LatencyTable(const SessionReport& report) {
  Table table({"trials", "time", "latency", "of the last"});
  for (int eighth = 1; eighth <= 8; ++eighth) {
    const SessionReport::Point point = report.After(report.trials() * eighth / 8);
    table.AddRow(
        {report.trials() * eighth / 8,
         Seconds(point.seconds),
         Seconds(point.latency),
         {point.latency / report.latency(), FormatRatio(point.latency / report.latency())}});
  }
  return table;
}

Table TaskTable(const SessionReport& report) {
  Table table({"task", "name", "weight", "slots", "trials", "best", "share"});
  for (const SessionReport::Task& task : report.tasks) {
    table.AddRow({task.id,
                  task.name,
                  {task.weight, fmt::format("{:g}", task.weight)},
                  task.slots,
                  task.trials,
                  {task.best, std::isfinite(task.best) ? FormatSeconds(task.best)
                              : std::isfinite(task.estimate)
                                  ? fmt::format("~{}", FormatSeconds(task.estimate))
                                  : "-"},
                  Percent(task.weight == 0 ? 0 : task.weight * task.seconds() / report.latency())});
  }
  return table;
}

Table PhaseTable(const SessionReport& report) {
  Table table({"phase", "time", "share"});
  if (!report.phases) return table;
  for (const run::NamedPhase& phase : run::kPhases) {
    const double seconds = *report.phases.*phase.seconds;
    table.AddRow({phase.name, Seconds(seconds), Percent(seconds / report.phases->Total())});
  }
  return table;
}

Table TurnTable(const SessionReport& report) {
  Table table({"slot", "task", "name", "trials", "time", "gain", "latency"});
  int64_t number = 0;
  for (const SessionReport::Turn& turn : report.turns) {
    const SessionReport::Task& task = report.tasks[turn.task];
    table.AddRow({++number, task.id, task.name, turn.trials, Seconds(turn.end), Seconds(turn.gain),
                  Seconds(turn.latency)});
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

}  // namespace bayloom::report
