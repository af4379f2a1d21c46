// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/show_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/report/format.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/session_report.h"

namespace bayloom::cli {
namespace {

constexpr size_t kMaxCandidateBytes = 10'000;

void PrintTasks(const report::SessionReport& report) {
  const record::RunRecord& run = report.digest.run();
  fmt::print("Run {}: {} ({}), begun {}, {}\n{} trials in {}\n\n{}", run.id,
             base::SingleLine(run.name), base::SingleLine(report.label),
             report::FormatTime(run.started), run.finished ? "finished" : "can be resumed",
             report::FormatCount(report.digest.trials()),
             report::FormatSeconds(report.digest.seconds()), report::TaskTable(report).Text());
}

void PrintSummary(const report::RunDigest& digest, bool history) {
  const record::RunRecord& run = digest.run();
  fmt::print(
      "Run {}: {} {}, begun {}, {}\n"
      "{}, seed {}; {} {}\n"
      "{}; without a value: {}\n",
      run.id, record::ToString(run.kind), base::SingleLine(run.name),
      report::FormatTime(run.started), run.finished ? "finished" : "can be resumed",
      base::SingleLine(run.proposer), run.seed, report::GoalOf(run),
      base::SingleLine(run.objective), report::CountText(digest), report::FailureText(digest));
  if (!digest.improvements().empty()) {
    const report::RunDigest::Improvement& best = digest.improvements().back();
    fmt::print("\n{} = {} (trial {})\n", base::SingleLine(run.objective),
               report::FormatRunValue(run, best.value), best.trial);
    if (run.kind != record::RunKind::kMap) {
      fmt::print("{}\n", base::SingleLine(best.candidate, kMaxCandidateBytes));
    }
  }
  if (history) fmt::print("\n{}", report::ImprovementTable(digest).Text());
}

/// What a mapping of a network came to, and the runs of its layers.
void PrintResult(record::Store& store, const record::RunRecord& run) {
  if (const auto result = report::KeptResultOf(run)) {
    fmt::print("\n{}\n\n{}", base::SingleLine(result->summary, kMaxCandidateBytes), result->Text());
  }
  const std::vector<record::RunRecord> all = store.Runs();
  std::vector<record::RunRecord> layers;
  for (const record::RunId layer : report::LayerRunsOf(run, all)) {
    layers.push_back(*std::ranges::find(all, layer, &record::RunRecord::id));
  }
  if (!layers.empty()) fmt::print("\nRuns of its layers:\n{}", RunTable(store, layers).Text());
}

}  // namespace

void ShowRun(const ShowRunOptions& options) {
  record::Store store(options.database, record::Store::Mode::kReadOnly);
  const record::RunRecord run = store.RunOf(options.run);
  if (run.kind == record::RunKind::kSearch) return ShowSearch(store, run, options);
  if (record::HasTasks(run)) {
    const report::SessionReport report = report::ReportOf(store, run.id);
    if (options.json) return fmt::print("{}\n", report::JsonText(report::ToJson(report)));
    PrintTasks(report);
    if (options.history) fmt::print("\n{}", report::TurnTable(report).Text());
    return;
  }
  const report::RunDigest digest = report::DigestOf(store, run.id);
  if (options.why && run.kind != record::RunKind::kMap) {
    throw InputError("show: --why is about a task, or a run of 'map'");
  }
  if (options.json) return fmt::print("{}\n", report::JsonText(report::ToJson(digest)));
  PrintSummary(digest, options.history);
  PrintResult(store, run);
  if (run.kind == record::RunKind::kMap) PrintMapping(store, run, options.why);
}

}  // namespace bayloom::cli
