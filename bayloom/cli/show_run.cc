// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/show_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/report/format.h"
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
    fmt::print("\n{} = {} (trial {})\n{}\n", base::SingleLine(run.objective),
               report::FormatValue(best.value), best.trial,
               base::SingleLine(best.candidate, kMaxCandidateBytes));
  }
  if (history) fmt::print("\n{}", report::ImprovementTable(digest).Text());
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
  if (options.json) return fmt::print("{}\n", report::JsonText(report::ToJson(digest)));
  PrintSummary(digest, options.history);
}

}  // namespace bayloom::cli
