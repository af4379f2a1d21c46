// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cmath>

#include "bayloom/report/session_report.h"

namespace bayloom::report {

LineChart LatencyChart(std::span<const SessionReport> reports, bool over_time) {
  LineChart chart;
  if (!reports.empty()) chart.title = reports.front().record.name;
  chart.x_label = over_time ? "seconds of tuning" : "trials";
  chart.y_label = "latency, ms";
  chart.log_y = true;
  for (const SessionReport& report : reports) {
    LineChart::Series series{report.label, {}, /*steps=*/true};
    for (const SessionReport::Point& point : report.points) {
      if (std::isinf(point.latency)) continue;
      series.points.emplace_back(over_time ? point.seconds : static_cast<double>(point.trials),
                                 1e3 * point.latency);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

LineChart AllocationChart(const SessionReport& report) {
  LineChart chart;
  chart.title = fmt::format("{}: {}", report.record.name, report.label);
  chart.x_label = "trials of all tasks";
  chart.y_label = "trials of the task";
  for (const SessionReport::Task& task : report.tasks)
    chart.series.push_back({task.name, {{0, 0}}});
  double all = 0;
  std::vector<double> own(report.tasks.size());
  for (const SessionReport::Turn& turn : report.turns) {
    LineChart::Series& series = chart.series[turn.task];
    series.points.emplace_back(all, own[turn.task]);
    all += static_cast<double>(turn.trials);
    own[turn.task] += static_cast<double>(turn.trials);
    series.points.emplace_back(all, own[turn.task]);
  }
  for (size_t i = 0; i < own.size(); ++i) chart.series[i].points.emplace_back(all, own[i]);
  return chart;
}

}  // namespace bayloom::report
