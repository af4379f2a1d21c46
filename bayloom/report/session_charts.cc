// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/session_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "bayloom/measure/measurement_details.h"

namespace bayloom::report {
namespace {

using Points = std::vector<std::pair<double, double>>;

/// Best seconds after a number of trials, at those trials that brought a better program, and
/// after the last trial.
class BestCurve {
 public:
  void Add(const trial::Outcome& outcome) {
    ++trials_;
    const bool is_time = outcome.ok() && !measure::DetailsOf(outcome).cut_short &&
                         outcome.value > 0 && std::isfinite(outcome.value);
    if (!is_time || (!improvements_.empty() && outcome.value >= best())) return;
    improvements_.emplace_back(static_cast<double>(trials_), outcome.value);
  }
  bool empty() const { return improvements_.empty(); }

  Points RelativeThroughputs() const {
    Points points;
    for (const auto& [trial, seconds] : improvements_) {
      points.emplace_back(trial, best() / seconds);
    }
    points.emplace_back(static_cast<double>(trials_), 1);
    return points;
  }

 private:
  double best() const { return improvements_.back().second; }

  int trials_ = 0;
  Points improvements_;
};

}  // namespace

LineChart ConvergenceChart(record::Store& store, record::RunId run) {
  std::map<record::TaskId, BestCurve> curves;
  const record::RunRecord record = store.RunOf(run);
  for (const record::StoredTrial& trial : store.TrialsOfRun(run))
    curves[trial.task].Add(trial.outcome);

  LineChart chart;
  chart.title = record.name;
  chart.x_label = "trials of the task";
  chart.y_label = "throughput relative to the best found";
  for (const record::TaskRecord& task : store.Tasks()) {
    const auto curve = curves.find(task.id);
    if (curve == curves.end() || curve->second.empty()) continue;
    chart.series.push_back({task.name, curve->second.RelativeThroughputs(), /*steps=*/true});
  }
  return chart;
}

LineChart ModelQualityChart(record::Store& store, record::RunId run) {
  struct Measure {
    const char* metric;
    const char* name;
  };
  constexpr std::array<Measure, 4> kMeasures = {{{"rmse", "root mean squared error"},
                                                 {"spearman", "rank correlation"},
                                                 {"pairwise_accuracy", "pairs in order"},
                                                 {"top_recall", "recall of best quarter"}}};
  LineChart chart;
  chart.title = store.RunOf(run).name + ": cost model before learning a batch";
  chart.x_label = "batch";
  const std::vector<record::Metric> metrics = store.MetricsOf(run);
  for (const Measure& measure : kMeasures) {
    LineChart::Series series{measure.name, {}, /*steps=*/false};
    for (const record::Metric& metric : metrics) {
      if (metric.name != measure.metric) continue;
      series.points.emplace_back(static_cast<double>(metric.batch), metric.value);
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace bayloom::report
