#include "bayloom/record/search_records.h"

#include <fmt/format.h>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/record/schema.h"
#include "bayloom/record/uuid.h"

namespace bayloom {
namespace {

using Lock = std::lock_guard<std::mutex>;

ConfigurationTrial ReadTrial(const std::string& path, SearchId search, const Rows& row) {
  ConfigurationTrial trial;
  trial.search = search;
  trial.ordinal = row.Int(0);
  trial.configuration = row.Text(1);
  const std::optional<Verdict> verdict = ParseVerdict(row.Text(2));
  if (!verdict) {
    throw InputError(fmt::format("cannot use {}: it is damaged: a trial has the verdict '{}'", path,
                                 row.Text(2)));
  }
  trial.outcome.verdict = *verdict;
  trial.outcome.value = row.Real(3);
  trial.outcome.reason = row.Text(4);
  trial.outcome.build_seconds = row.Real(5);
  trial.outcome.measure_seconds = row.Real(6);
  trial.elapsed = row.Real(7);
  trial.timestamp = row.Int(8);
  return trial;
}

}  // namespace

SearchRecords::SearchRecords(const std::string& path, Database::Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

SearchRecord SearchRecords::Begin(SearchRecord search) {
  const Lock lock(mutex_);
  search.uuid = RandomUuid();
  search.started = UnixMicroseconds();
  search.finished = false;
  database_
      .Prepared(
          "INSERT INTO searches"
          " (uuid, name, scenario, objective, maximize, optimizer, seed, started)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
      .Run(search.uuid, search.name, search.scenario, search.objective, search.maximize,
           search.optimizer, search.seed, search.started);
  search.id = database_.LastRowId();
  return search;
}

std::vector<SearchRecord> SearchRecords::Searches() {
  const Lock lock(mutex_);
  std::vector<SearchRecord> searches;
  Rows rows = database_
                  .Prepared(
                      "SELECT id, uuid, name, scenario, objective, maximize, optimizer, seed,"
                      " started, finished FROM searches ORDER BY id")
                  .Start();
  while (rows.Step()) {
    searches.push_back({rows.Int(0), rows.Text(1), rows.Text(2), rows.Text(3), rows.Text(4),
                        rows.Int(5) != 0, rows.Text(6), rows.Hash(7), rows.Int(8),
                        rows.Int(9) != 0});
  }
  return searches;
}

std::optional<SearchRecord> SearchRecords::Last(const std::string& name) {
  std::optional<SearchRecord> last;
  for (SearchRecord& search : Searches()) {
    if (search.name == name) last = std::move(search);
  }
  return last;
}

void SearchRecords::SetFinished(SearchId search, bool finished) {
  const Lock lock(mutex_);
  database_.Prepared("UPDATE searches SET finished = ? WHERE id = ?").Run(finished, search);
}

void SearchRecords::AddTrial(const ConfigurationTrial& trial) {
  const Lock lock(mutex_);
  const Outcome& outcome = trial.outcome;
  database_
      .Prepared(
          "INSERT INTO search_trials (search, ordinal, configuration, verdict, value, reason,"
          " build_seconds, measure_seconds, elapsed, timestamp)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .Run(trial.search, trial.ordinal, trial.configuration, std::string(ToString(outcome.verdict)),
           outcome.value, outcome.reason, outcome.build_seconds, outcome.measure_seconds,
           trial.elapsed, trial.timestamp != 0 ? trial.timestamp : UnixMicroseconds());
  if (database_.Changes() == 1) return;
  throw InputError(fmt::format("{}: search {} has another trial {}: is it running twice?", path(),
                               trial.search, trial.ordinal));
}

std::vector<ConfigurationTrial> SearchRecords::TrialsOf(SearchId search) {
  const Lock lock(mutex_);
  std::vector<ConfigurationTrial> trials;
  Rows rows = database_
                  .Prepared(
                      "SELECT ordinal, configuration, verdict, value, reason, build_seconds,"
                      " measure_seconds, elapsed, timestamp FROM search_trials WHERE search = ?"
                      " ORDER BY ordinal")
                  .Start(search);
  while (rows.Step()) trials.push_back(ReadTrial(path(), search, rows));
  return trials;
}

}  // namespace bayloom
