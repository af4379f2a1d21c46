#include <fmt/format.h>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/show.h"
#include "bayloom/record/store.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/session_charts.h"

namespace bayloom {
namespace {

/// The run that was asked for, or the last one.
RunRecord ChosenRun(Store& store, const ShowOptions& options) {
  if (options.run) return store.RunOf(*options.run);
  const std::vector<RunRecord> runs = store.Runs();
  if (runs.empty()) throw InputError(fmt::format("{} has no run yet", store.path()));
  return runs.back();
}

bool HasTasks(const RunRecord& run) {
  return run.kind == RunKind::kTune || run.kind == RunKind::kDataset;
}

}  // namespace

void ShowCharts(const ShowOptions& options) {
  Store store(options.subject.path, Store::Mode::kReadOnly);
  const RunRecord run = ChosenRun(store, options);
  if (!options.chart.empty()) {
    const LineChart chart =
        HasTasks(run) ? ConvergenceChart(store, run.id) : ProgressChart(SummaryOf(store, run.id));
    WriteFile(options.chart, chart.ToSvg());
  }
  if (!options.model_chart.empty()) {
    if (!HasTasks(run)) {
      throw InputError(fmt::format("run {} of {} has no cost model: it is of the kind '{}'", run.id,
                                   store.path(), ToString(run.kind)));
    }
    WriteFile(options.model_chart, ModelQualityChart(store, run.id).ToSvg());
  }
}

}  // namespace bayloom
