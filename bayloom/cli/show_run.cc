#include "bayloom/cli/show_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/report/format.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/session_report.h"

namespace bayloom {
namespace {

void PrintTasks(const SessionReport& report) {
  fmt::print("Run {}: {} ({}), begun {}, {}\n{} trials in {}\n\n{}", report.record.id,
             report.record.name, report.label, FormatTime(report.record.started),
             report.record.finished ? "finished" : "can be resumed", FormatCount(report.trials()),
             FormatSeconds(report.seconds()), TaskTable(report).Text());
}

void PrintSummary(const RunSummary& summary, bool history) {
  const RunRecord& run = summary.record;
  fmt::print(
      "Run {}: {} {}, begun {}, {}\n"
      "{}, seed {}; {} {}\n"
      "{} trials; without a value: {}\n",
      run.id, ToString(run.kind), run.name, FormatTime(run.started),
      run.finished ? "finished" : "can be resumed", run.proposer, run.seed, GoalOf(run),
      run.objective, FormatCount(summary.trials), FailureText(summary));
  if (!summary.improvements.empty()) {
    const RunSummary::Improvement& best = summary.improvements.back();
    fmt::print("\n{} = {} (trial {})\n{}\n", run.objective, FormatValue(best.value), best.trial,
               best.candidate);
  }
  if (history) fmt::print("\n{}", ImprovementTable(summary).Text());
}

}  // namespace

void ShowRun(const ShowRunOptions& options) {
  Store store(options.database, Store::Mode::kReadOnly);
  const RunRecord run = store.RunOf(options.run);
  switch (run.kind) {
    case RunKind::kSearch:
      return ShowSearch(store, run, options);
    case RunKind::kTune:
    case RunKind::kDataset: {
      const SessionReport report = ReportOf(store, run.id);
      if (options.json) return fmt::print("{}\n", ToJson(report).dump(2));
      PrintTasks(report);
      if (options.history) fmt::print("\n{}", TurnTable(report).Text());
      return;
    }
    case RunKind::kMap: {
      const RunSummary summary = SummaryOf(store, run.id);
      if (options.json) return fmt::print("{}\n", ToJson(summary).dump(2));
      return PrintSummary(summary, options.history);
    }
  }
}

}  // namespace bayloom
