// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "bayloom/base/single_line.h"
#include "bayloom/cli/show.h"
#include "bayloom/cli/show_run.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/kept_result.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/report/pool_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/table.h"

namespace bayloom::cli {
namespace {

/// The best value of a run; NaN if it has none, or several tasks whose values do not compare.
double BestOf(record::Store& store, const record::RunRecord& run) {
  if (record::HasTasks(run)) return std::numeric_limits<double>::quiet_NaN();
  const report::RunDigest digest = report::DigestOf(store, run.id);
  return digest.improvements().empty() ? std::numeric_limits<double>::quiet_NaN()
                                       : digest.improvements().back().value;
}

/// Its own, or of a network's layers those of all of them.
int64_t TrialsOf(record::Store& store, const record::RunRecord& run) {
  int64_t trials = store.CountTrials(run.id);
  if (trials > 0) return trials;
  for (const record::RunId layer : report::LayerRunsOf(run, store.Runs())) {
    trials += store.CountTrials(layer);
  }
  return trials;
}

}  // namespace

report::Table RunTable(record::Store& store, std::span<const record::RunRecord> runs) {
  report::Table table({"run", "kind", "begun", "name", "by", "seed", "trials", "best", "state"});
  for (const record::RunRecord& run : runs) {
    const double best = BestOf(store, run);
    table.AddRow({run.id,
                  std::string(record::ToString(run.kind)),
                  report::FormatTime(run.started),
                  run.name,
                  report::ProposerOf(run),
                  {static_cast<int64_t>(run.seed), std::to_string(run.seed)},
                  TrialsOf(store, run),
                  {best, report::FormatRunValue(run, best)},
                  run.finished ? "finished" : "can be resumed"});
  }
  return table;
}

namespace {

/// The runs that are no layers of a network's.
std::vector<record::RunRecord> WholeRuns(record::Store& store) {
  std::vector<record::RunRecord> runs = store.Runs();
  std::set<record::RunId> layers;
  for (const record::RunRecord& run : runs) {
    for (const record::RunId layer : report::LayerRunsOf(run, runs)) layers.insert(layer);
  }
  std::erase_if(runs, [&](const record::RunRecord& run) { return layers.contains(run.id); });
  return runs;
}

/// The tasks that were tried on a target.
report::Table TasksOn(record::Store& store, record::TargetId target) {
  report::Table table({"task", "name", "trials", "best", "rate"});
  for (const record::TaskRecord& task : store.Tasks()) {
    const std::vector<record::StoredTrial> trials = store.TrialsOf(task.id, target);
    if (trials.empty()) continue;
    const std::vector<record::StoredTrial> best = store.BestOf(task.id, target, 1);
    const double seconds =
        best.empty() ? std::numeric_limits<double>::infinity() : best.front().outcome.value;
    const double rate = store.WorkloadOf(task.id).Flops() / seconds;
    table.AddRow({task.id,
                  task.name,
                  static_cast<int64_t>(trials.size()),
                  {seconds, report::FormatSeconds(seconds)},
                  {rate, report::FormatRate(rate)}});
  }
  return table;
}

std::string Describe(const target::Target& target) {
  return fmt::format("{} with {} thread{} and vectors of {} bytes", base::SingleLine(target.cpu),
                     target.cores, target.cores == 1 ? "" : "s", target.vector_bytes);
}

void PrintAsJson(record::Store& store, record::ProgramPool& pool) {
  nlohmann::json targets = nlohmann::json::array();
  for (record::TargetId id : store.Targets()) {
    const target::Target target = store.TargetOf(id);
    targets.push_back({{"target", id},
                       {"cpu", target.cpu},
                       {"threads", target.cores},
                       {"tasks", TasksOn(store, id).Json()}});
  }
  const nlohmann::json shown = {{"runs", RunTable(store, store.Runs()).Json()},
                                {"targets", targets},
                                {"pools", report::PoolTable(pool).Json()}};
  fmt::print("{}\n", report::JsonText(shown));
}

}  // namespace

void ShowDatabase(const ShowOptions& options) {
  record::Store store(options.subject.path, record::Store::Mode::kReadOnly);
  record::ProgramPool pool(options.subject.path, record::ProgramPool::Mode::kReadOnly);
  if (options.json) return PrintAsJson(store, pool);
  const report::Table runs = RunTable(store, WholeRuns(store));
  fmt::print("{}", runs.empty() ? "No runs yet.\n" : runs.Text());
  for (record::TargetId id : store.Targets()) {
    const report::Table tasks = TasksOn(store, id);
    if (tasks.empty()) continue;
    fmt::print("\nOn {}:\n{}", Describe(store.TargetOf(id)), tasks.Text());
  }
  const report::Table groups = report::PoolTable(pool);
  if (!groups.empty()) fmt::print("\nPrograms that may be measured:\n{}", groups.Text());
}

}  // namespace bayloom::cli
