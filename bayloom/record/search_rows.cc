#include "bayloom/record/search_rows.h"

#include <fmt/format.h>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"

namespace bayloom {
namespace {

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

std::vector<SearchRecord> SelectSearches(Database& database) {
  std::vector<SearchRecord> searches;
  Rows rows = database
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

std::vector<ConfigurationTrial> SelectSearchTrials(Database& database, SearchId search) {
  std::vector<ConfigurationTrial> trials;
  Rows rows = database
                  .Prepared(
                      "SELECT ordinal, configuration, verdict, value, reason, build_seconds,"
                      " measure_seconds, elapsed, timestamp FROM search_trials WHERE search = ?"
                      " ORDER BY ordinal")
                  .Start(search);
  while (rows.Step()) trials.push_back(ReadTrial(database.path(), search, rows));
  return trials;
}

SearchId InsertSearch(Database& database, const SearchRecord& search) {
  database
      .Prepared(
          "INSERT INTO searches"
          " (uuid, name, scenario, objective, maximize, optimizer, seed, started, finished)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .Run(search.uuid, search.name, search.scenario, search.objective, search.maximize,
           search.optimizer, search.seed, search.started, search.finished);
  if (database.Changes() == 1) return database.LastRowId();
  Rows rows = database.Prepared("SELECT id FROM searches WHERE uuid = ?").Start(search.uuid);
  rows.Step();
  return rows.Int(0);
}

bool InsertSearchTrial(Database& database, const ConfigurationTrial& trial) {
  const Outcome& outcome = trial.outcome;
  database
      .Prepared(
          "INSERT INTO search_trials (search, ordinal, configuration, verdict, value, reason,"
          " build_seconds, measure_seconds, elapsed, timestamp)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .Run(trial.search, trial.ordinal, trial.configuration, std::string(ToString(outcome.verdict)),
           outcome.value, outcome.reason, outcome.build_seconds, outcome.measure_seconds,
           trial.elapsed, trial.timestamp != 0 ? trial.timestamp : UnixMicroseconds());
  return database.Changes() == 1;
}

}  // namespace bayloom
