// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/schema.h"

#include <fmt/format.h>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/record/trial_details.h"

namespace bayloom::record {
namespace {

constexpr int kApplicationId = 0x42796c6d;  // "Bylm": marks the file as ours

constexpr Migration kStoreMigrations[] = {
    {1, R"sql(
      CREATE TABLE targets (
        id INTEGER PRIMARY KEY,
        hash INTEGER NOT NULL UNIQUE,
        json TEXT NOT NULL
      );
      CREATE TABLE tasks (
        id INTEGER PRIMARY KEY,
        hash INTEGER NOT NULL UNIQUE,   -- of the workload
        name TEXT NOT NULL,
        text TEXT NOT NULL,             -- the workload, for people
        workload TEXT NOT NULL          -- JSON
      );
      CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL UNIQUE,      -- the same after export and import
        target INTEGER NOT NULL REFERENCES targets,
        model TEXT NOT NULL,            -- what was tuned
        options TEXT NOT NULL,          -- JSON
        seed INTEGER NOT NULL,
        started INTEGER NOT NULL,       -- microseconds since 1970, as all times of day
        finished INTEGER NOT NULL DEFAULT 0,
        state TEXT NOT NULL DEFAULT ''  -- what a resumed run needs to go on
      );
      CREATE TABLE trials (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions,
        task INTEGER NOT NULL REFERENCES tasks,
        target INTEGER NOT NULL REFERENCES targets,
        ordinal INTEGER NOT NULL,       -- within the session, from 0
        strategy TEXT NOT NULL,
        space INTEGER NOT NULL,
        trace TEXT NOT NULL,            -- JSON
        program_hash INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        seconds REAL,                   -- NULL unless the verdict is ok
        spread REAL,
        cut_short INTEGER NOT NULL,
        drift REAL,
        reason TEXT NOT NULL,
        build_seconds REAL,
        measure_seconds REAL,
        timestamp INTEGER NOT NULL,
        UNIQUE (session, ordinal),
        UNIQUE (session, task, program_hash)
      );
      CREATE INDEX trials_by_time ON trials (task, target, seconds)
        WHERE verdict = 'ok' AND cut_short = 0;
      CREATE INDEX trials_by_program ON trials (task, target, program_hash);
      CREATE TABLE metrics (
        session INTEGER NOT NULL REFERENCES sessions,
        task INTEGER NOT NULL,          -- 0: of the whole session
        batch INTEGER NOT NULL,
        name TEXT NOT NULL,
        value REAL,
        PRIMARY KEY (session, task, batch, name)
      ) WITHOUT ROWID;
    )sql"},
    {2, R"sql(
      CREATE TABLE searches (           -- of scenarios, by `bayloom search`
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,             -- the scenario's
        scenario TEXT NOT NULL,         -- its file, as read
        objective TEXT NOT NULL,        -- what a trial's value is
        maximize INTEGER NOT NULL,
        optimizer TEXT NOT NULL,
        seed INTEGER NOT NULL,
        started INTEGER NOT NULL,
        finished INTEGER NOT NULL DEFAULT 0
      );
      CREATE TABLE search_trials (
        search INTEGER NOT NULL REFERENCES searches,
        ordinal INTEGER NOT NULL,       -- from 0
        configuration TEXT NOT NULL,    -- JSON: values by parameter
        verdict TEXT NOT NULL,
        value REAL,                     -- NULL unless the verdict is ok
        reason TEXT NOT NULL,
        build_seconds REAL,
        measure_seconds REAL,
        elapsed REAL NOT NULL,          -- seconds of searching until it ended
        timestamp INTEGER NOT NULL,
        PRIMARY KEY (search, ordinal),
        UNIQUE (search, configuration)
      ) WITHOUT ROWID;
    )sql"},
    {3, R"sql(
      CREATE TABLE pool_groups (        -- networks and operator families
        name TEXT NOT NULL,
        task INTEGER NOT NULL REFERENCES tasks,
        weight REAL NOT NULL,           -- how often one run of the network runs the task
        PRIMARY KEY (name, task)
      ) WITHOUT ROWID;
      CREATE TABLE pool_chunks (        -- programs that may be measured
        task INTEGER NOT NULL REFERENCES tasks,
        first INTEGER NOT NULL,         -- place of the first program among the task's
        count INTEGER NOT NULL,
        programs BLOB NOT NULL,         -- see record/pool_chunk.h
        features BLOB NOT NULL,
        PRIMARY KEY (task, first)
      );
    )sql"},
    // Sessions and searches become runs, the trials of both one table.
    {4, R"sql(
      ALTER TABLE targets ADD COLUMN machine TEXT;  -- JSON: what was measured of it
      CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        uuid TEXT NOT NULL UNIQUE,      -- the same after export and import
        kind TEXT NOT NULL,             -- tune, dataset, search, map
        name TEXT NOT NULL,             -- of the model, operator, scenario or problem
        definition TEXT NOT NULL,       -- options as JSON, or the scenario as read
        target INTEGER REFERENCES targets,
        objective TEXT NOT NULL,        -- what a trial's value is
        maximize INTEGER NOT NULL,
        proposer TEXT NOT NULL,         -- the optimizer or mapper; '' if it is chosen by task
        seed INTEGER NOT NULL,
        started INTEGER NOT NULL,
        finished INTEGER NOT NULL DEFAULT 0,
        state TEXT NOT NULL DEFAULT ''  -- what a resumed run needs beside its trials
      );
      INSERT INTO runs
        SELECT id, uuid,
               IIF(EXISTS (SELECT 1 FROM trials WHERE session = sessions.id) AND
                   NOT EXISTS (SELECT 1 FROM trials
                               WHERE session = sessions.id AND strategy <> 'pool'),
                   'dataset', 'tune'),
               model, options, target, 'seconds', 0, '', seed, started, finished, state
        FROM sessions;
      INSERT INTO runs
        SELECT id + (SELECT IFNULL(MAX(id), 0) FROM sessions), uuid,
               CASE WHEN NOT json_valid(scenario) THEN 'search'
                    WHEN json_type(scenario) = 'object' AND
                         json_type(scenario, '$.problem') IS NOT NULL AND
                         json_type(scenario, '$.architecture') IS NOT NULL AND
                         json_type(scenario, '$.evaluator') IS NOT NULL THEN 'map'
                    ELSE 'search' END,
               name, scenario, NULL, objective, maximize, optimizer, seed, started, finished, ''
        FROM searches;
      CREATE TABLE run_trials (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs,
        ordinal INTEGER NOT NULL,       -- within the run, from 0
        task INTEGER REFERENCES tasks,
        target INTEGER REFERENCES targets,
        candidate TEXT NOT NULL,        -- JSON: {"space", "trace"}, a configuration, a mapping
        key INTEGER NOT NULL,           -- hash of the program; 0: the candidate's text identifies it
        proposer TEXT NOT NULL,         -- who chose it
        verdict TEXT NOT NULL,
        value REAL,                     -- NULL unless the verdict is ok
        reason TEXT NOT NULL,
        details TEXT NOT NULL,          -- JSON object of further numbers; '' if there are none
        elapsed REAL NOT NULL,          -- seconds of the run when it ended; 0: not known
        timestamp INTEGER NOT NULL,
        cut_short INTEGER NOT NULL,     -- as details say: measuring ended early
        UNIQUE (run, ordinal)
      );
      INSERT INTO run_trials
        SELECT id, session, ordinal, task, target,
               '{"space":' || space || ',"trace":' || IIF(trace = '', 'null', trace) || '}',
               program_hash, strategy, verdict, seconds, reason, IIF(members = '', '',
               '{' || SUBSTR(members, 2) || '}'), 0, timestamp, cut_short
        FROM (SELECT *,
                IFNULL(',"spread":' || exact_text(NULLIF(spread, 0)), '') ||
                IIF(cut_short, ',"cut_short":1', '') ||
                IFNULL(',"drift":' || exact_text(NULLIF(drift, 1)), '') ||
                IFNULL(',"build_seconds":' || exact_text(NULLIF(build_seconds, 0)), '') ||
                IFNULL(',"measure_seconds":' || exact_text(NULLIF(measure_seconds, 0)), '')
                AS members FROM trials)
        ORDER BY id;
      INSERT INTO run_trials
        SELECT NULL, search + (SELECT IFNULL(MAX(id), 0) FROM sessions), ordinal, NULL, NULL,
               configuration, 0, optimizer, verdict, value, reason, IIF(members = '', '',
               '{' || SUBSTR(members, 2) || '}'), elapsed, timestamp, 0
        FROM (SELECT search_trials.*, optimizer,
                IFNULL(',"build_seconds":' || exact_text(NULLIF(build_seconds, 0)), '') ||
                IFNULL(',"measure_seconds":' || exact_text(NULLIF(measure_seconds, 0)), '')
                AS members FROM search_trials JOIN searches ON searches.id = search)
        ORDER BY search, ordinal;
      CREATE TABLE run_metrics (
        run INTEGER NOT NULL REFERENCES runs,
        task INTEGER NOT NULL,          -- 0: of the whole run
        batch INTEGER NOT NULL,
        name TEXT NOT NULL,
        value REAL,
        PRIMARY KEY (run, task, batch, name)
      ) WITHOUT ROWID;
      INSERT INTO run_metrics SELECT session, task, batch, name, value FROM metrics;
      DROP TABLE metrics;
      DROP TABLE search_trials;
      DROP TABLE searches;
      DROP TABLE trials;
      DROP TABLE sessions;
      ALTER TABLE run_metrics RENAME TO metrics;
      ALTER TABLE run_trials RENAME TO trials;
      CREATE UNIQUE INDEX trials_of_programs ON trials (run, IFNULL(task, 0), key)
        WHERE key <> 0;
      CREATE UNIQUE INDEX trials_of_texts ON trials (run, candidate) WHERE key = 0;
      CREATE INDEX trials_by_value ON trials (task, target, value)
        WHERE verdict = 'ok' AND cut_short = 0 AND task IS NOT NULL;
      CREATE INDEX trials_by_program ON trials (task, target, key) WHERE task IS NOT NULL;
    )sql"},
    {5, R"sql(
      CREATE TABLE repeats (            -- candidates measured again, in turns with others
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs,  -- that measured it again
        after INTEGER NOT NULL,         -- trials the run had by then
        task INTEGER REFERENCES tasks,
        target INTEGER REFERENCES targets,
        trial_run INTEGER REFERENCES runs,     -- whose trial it was; NULL: the untuned program
        trial INTEGER NOT NULL,         -- the trial's ordinal
        round INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        value REAL,                     -- NULL unless the verdict is ok
        reason TEXT NOT NULL,
        details TEXT NOT NULL,          -- as those of trials
        timestamp INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX repeats_of_runs ON repeats
        (run, after, IFNULL(task, 0), IFNULL(trial_run, 0), trial, round);
      CREATE INDEX repeats_of_tasks ON repeats (task, target, timestamp) WHERE task IS NOT NULL;
    )sql"},
    {6, R"sql(
      CREATE TABLE samples (            -- measured programs, for cost models to learn from
        task INTEGER NOT NULL REFERENCES tasks,
        target INTEGER NOT NULL REFERENCES targets,
        layout INTEGER NOT NULL,        -- which columns the features have
        given INTEGER NOT NULL,         -- measurements so far, kept or not
        changed INTEGER NOT NULL,       -- the larger the later
        measurements BLOB NOT NULL,     -- see record/sample_store.cc
        features BLOB NOT NULL,         -- see record/pool_chunk.h
        PRIMARY KEY (task, target)
      );
      CREATE TABLE models (             -- cost models trained on samples
        hash INTEGER PRIMARY KEY,
        target INTEGER NOT NULL,
        layout INTEGER NOT NULL,
        added INTEGER NOT NULL,         -- the larger the later
        given INTEGER NOT NULL,         -- measurements of the target by then
        trials INTEGER NOT NULL,        -- learnt from
        tasks INTEGER NOT NULL,
        bytes BLOB NOT NULL
      );
    )sql"},
    {7, R"sql(
      CREATE TABLE choices (            -- what was chosen without measuring
        key INTEGER PRIMARY KEY,        -- a hash of all it depends on
        build INTEGER NOT NULL,         -- of the program that chose
        choice TEXT NOT NULL
      );
    )sql"},
};

int64_t Pragma(Database& database, const char* name) {
  Statement statement(database, fmt::format("PRAGMA {}", name));
  Rows rows = statement.Start();
  return rows.Step() ? rows.Int(0) : 0;
}

bool IsEmpty(Database& database) {
  Statement statement(database, "SELECT 1 FROM sqlite_schema LIMIT 1");
  return !statement.Start().Step();
}

/// A view in a table's place could run for ever, and so could what a trigger does.
void CheckKinds(Database& database) {
  Statement statement(database,
                      "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index')"
                      " OR sql LIKE 'create virtual%' LIMIT 1");
  Rows rows = statement.Start();
  if (!rows.Step()) return;
  throw InputError(fmt::format(
      "cannot use {}: it holds the {} '{}', which does not belong in a database of records",
      database.path(), rows.Text(0) == "table" ? "virtual table" : base::SingleLine(rows.Text(0)),
      base::SingleLine(rows.Text(1))));
}

/// The version of the tables, of a file that is empty or one of records. Read at one moment:
/// another process may be creating the tables.
int64_t CheckedVersion(Database& database) {
  const Transaction snapshot(database, Transaction::Kind::kRead);
  const bool is_ours = Pragma(database, "application_id") == kApplicationId;
  if (!is_ours && !IsEmpty(database)) {
    throw InputError(
        fmt::format("cannot use {}: it is a database of another program", database.path()));
  }
  CheckKinds(database);
  return Pragma(database, "user_version");
}

}  // namespace

std::span<const Migration> StoreMigrations() { return kStoreMigrations; }

void Migrate(Database& database, std::span<const Migration> migrations) {
  const int newest = migrations.back().version;
  const int64_t found = CheckedVersion(database);
  if (found > newest) {
    throw InputError(
        fmt::format("cannot use {}: its schema version {} is newer than {}, the newest this "
                    "program knows; update the program",
                    database.path(), found, newest));
  }
  if (found == newest) return;
  const bool is_read_only = database.mode() == Database::Mode::kReadOnly;
  if (is_read_only) database.MakePrivateCopy();
  database.DefineFunction("exact_text", ExactText);
  for (const Migration& migration : migrations) {
    Transaction transaction(database);
    // Another process may have done it meanwhile.
    if (Pragma(database, "user_version") >= migration.version) continue;
    database.Execute(migration.sql);
    database.Execute(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}",
                                 migration.version, kApplicationId));
    transaction.Commit();
  }
  if (is_read_only) database.Freeze();
}

}  // namespace bayloom::record
