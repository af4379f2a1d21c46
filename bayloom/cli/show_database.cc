#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/cli/show.h"
#include "bayloom/record/search_records.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/table.h"

namespace bayloom {
namespace {

Table SessionTable(Store& store) {
  Table table({"session", "begun", "model", "seed", "trials", "state"});
  for (const SessionRecord& session : store.Sessions()) {
    table.AddRow({session.id, FormatTime(session.started), session.model,
                  static_cast<int64_t>(session.seed), store.CountTrials(session.id),
                  session.finished ? "finished" : "can be resumed"});
  }
  return table;
}

Table SearchTable(SearchRecords& records) {
  Table table({"search", "begun", "scenario", "optimizer", "seed", "trials", "best", "state"});
  for (const SearchRecord& search : records.Searches()) {
    std::vector<ConfigurationTrial> trials = records.TrialsOf(search.id);
    const int64_t count = static_cast<int64_t>(trials.size());
    std::erase_if(trials, [](const ConfigurationTrial& trial) { return !trial.outcome.ok(); });
    const auto [least, greatest] = std::minmax_element(
        trials.begin(), trials.end(), [](const ConfigurationTrial& a, const ConfigurationTrial& b) {
          return a.outcome.value < b.outcome.value;
        });
    const double best = trials.empty() ? std::numeric_limits<double>::quiet_NaN()
                                       : (search.maximize ? greatest : least)->outcome.value;
    table.AddRow({search.id,
                  FormatTime(search.started),
                  search.name,
                  search.optimizer,
                  static_cast<int64_t>(search.seed),
                  count,
                  {best, trials.empty() ? "-" : FormatValue(best)},
                  search.finished ? "finished" : "can be resumed"});
  }
  return table;
}

/// The tasks that were tried on a target.
Table TasksOn(Store& store, TargetId target) {
  Table table({"task", "name", "trials", "best", "rate"});
  for (const TaskRecord& task : store.Tasks()) {
    const std::vector<Trial> trials = store.TrialsOf(task.id, target);
    if (trials.empty()) continue;
    const std::vector<Trial> best = store.BestOf(task.id, target, 1);
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

void PrintAsJson(Store& store, const Table& searches) {
  nlohmann::json targets = nlohmann::json::array();
  for (TargetId id : store.Targets()) {
    const Target target = store.TargetOf(id);
    targets.push_back({{"target", id},
                       {"cpu", target.cpu},
                       {"threads", target.cores},
                       {"tasks", TasksOn(store, id).Json()}});
  }
  const nlohmann::json shown = {{"sessions", SessionTable(store).Json()},
                                {"targets", targets},
                                {"searches", searches.Json()}};
  fmt::print("{}\n", shown.dump(2));
}

}  // namespace

void ShowDatabase(const ShowOptions& options) {
  Store store(options.subject.path, Store::Mode::kReadOnly);
  SearchRecords records(options.subject.path, Database::Mode::kReadOnly);
  const Table searches = SearchTable(records);
  if (options.json) return PrintAsJson(store, searches);
  const Table sessions = SessionTable(store);
  if (sessions.empty() && searches.empty()) fmt::print("No sessions yet.\n");
  if (!sessions.empty()) fmt::print("{}", sessions.Text());
  if (!searches.empty()) fmt::print("{}{}", sessions.empty() ? "" : "\n", searches.Text());
  for (TargetId id : store.Targets()) {
    const Table tasks = TasksOn(store, id);
    if (tasks.empty()) continue;
    fmt::print("\nOn {}:\n{}", Describe(store.TargetOf(id)), tasks.Text());
  }
}

}  // namespace bayloom
