#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/cli/show.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/table.h"

namespace bayloom {
namespace {

/// Who chose the candidates: the optimizer or mapper, or the strategy of a tuning.
std::string ProposerOf(const RunRecord& run) {
  if (!run.proposer.empty()) return run.proposer;
  const auto definition =
      nlohmann::json::parse(run.definition, nullptr, /*allow_exceptions=*/false);
  return definition.is_object() ? definition.value("strategy", "") : "";
}

/// The best value of a run; NaN if it has none, or several tasks whose values do not compare.
double BestOf(Store& store, const RunRecord& run) {
  double best = std::numeric_limits<double>::quiet_NaN();
  if (run.kind == RunKind::kTune || run.kind == RunKind::kDataset) return best;
  for (const StoredTrial& trial : store.TrialsOfRun(run.id)) {
    if (!trial.outcome.ok()) continue;
    const double value = trial.outcome.value;
    if (std::isnan(best) || (run.maximize ? value > best : value < best)) best = value;
  }
  return best;
}

Table RunTable(Store& store) {
  Table table({"run", "kind", "begun", "name", "by", "seed", "trials", "best", "state"});
  for (const RunRecord& run : store.Runs()) {
    const double best = BestOf(store, run);
    table.AddRow({run.id,
                  std::string(ToString(run.kind)),
                  FormatTime(run.started),
                  run.name,
                  ProposerOf(run),
                  static_cast<int64_t>(run.seed),
                  store.CountTrials(run.id),
                  {best, FormatValue(best)},
                  run.finished ? "finished" : "can be resumed"});
  }
  return table;
}

/// The tasks that were tried on a target.
Table TasksOn(Store& store, TargetId target) {
  Table table({"task", "name", "trials", "best", "rate"});
  for (const TaskRecord& task : store.Tasks()) {
    const std::vector<StoredTrial> trials = store.TrialsOf(task.id, target);
    if (trials.empty()) continue;
    const std::vector<StoredTrial> best = store.BestOf(task.id, target, 1);
    const double seconds =
        best.empty() ? std::numeric_limits<double>::infinity() : best.front().outcome.value;
    const double rate = store.WorkloadOf(task.id).Flops() / seconds;
    table.AddRow({task.id,
                  task.name,
                  static_cast<int64_t>(trials.size()),
                  {seconds, FormatSeconds(seconds)},
                  {rate, FormatRate(rate)}});
  }
  return table;
}

std::string Describe(const Target& target) {
  return fmt::format("{} with {} thread{} and vectors of {} bytes", target.cpu, target.cores,
                     target.cores == 1 ? "" : "s", target.vector_bytes);
}

void PrintAsJson(Store& store) {
  nlohmann::json targets = nlohmann::json::array();
  for (TargetId id : store.Targets()) {
    const Target target = store.TargetOf(id);
    targets.push_back({{"target", id},
                       {"cpu", target.cpu},
                       {"threads", target.cores},
                       {"tasks", TasksOn(store, id).Json()}});
  }
  const nlohmann::json shown = {{"runs", RunTable(store).Json()}, {"targets", targets}};
  fmt::print("{}\n", shown.dump(2));
}

}  // namespace

void ShowDatabase(const ShowOptions& options) {
  Store store(options.subject.path, Store::Mode::kReadOnly);
  if (options.json) return PrintAsJson(store);
  const Table runs = RunTable(store);
  fmt::print("{}", runs.empty() ? "No runs yet.\n" : runs.Text());
  for (TargetId id : store.Targets()) {
    const Table tasks = TasksOn(store, id);
    if (tasks.empty()) continue;
    fmt::print("\nOn {}:\n{}", Describe(store.TargetOf(id)), tasks.Text());
  }
}

}  // namespace bayloom
