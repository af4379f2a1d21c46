// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/show.h"
#include "bayloom/record/store.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/session_charts.h"

namespace bayloom::cli {
namespace {

/// The run that was asked for, or the last one.
record::RunRecord ChosenRun(record::Store& store, const ShowOptions& options) {
  if (options.run) return store.RunOf(*options.run);
  const std::vector<record::RunRecord> runs = store.Runs();
  if (runs.empty()) throw InputError(fmt::format("{} has no run yet", store.path()));
  return runs.back();
}

bool HasTasks(const record::RunRecord& run) {
  return run.kind == record::RunKind::kTune || run.kind == record::RunKind::kDataset;
}

}  // namespace

void ShowCharts(const ShowOptions& options) {
  record::Store store(options.subject.path, record::Store::Mode::kReadOnly);
  const record::RunRecord run = ChosenRun(store, options);
  if (!options.chart.empty()) {
    const report::LineChart chart = HasTasks(run)
                                        ? report::ConvergenceChart(store, run.id)
                                        : report::ProgressChart(report::SummaryOf(store, run.id));
    base::WriteFile(options.chart, chart.ToSvg());
  }
  if (!options.model_chart.empty()) {
    if (!HasTasks(run)) {
      throw InputError(fmt::format("run {} of {} has no cost model: it is of the kind '{}'", run.id,
                                   store.path(), record::ToString(run.kind)));
    }
    base::WriteFile(options.model_chart, report::ModelQualityChart(store, run.id).ToSvg());
  }
}

}  // namespace bayloom::cli
