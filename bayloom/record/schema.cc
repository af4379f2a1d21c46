#include "bayloom/record/schema.h"

#include <fmt/format.h>

#include "bayloom/base/result.h"

namespace bayloom {
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

}  // namespace

std::span<const Migration> StoreMigrations() { return kStoreMigrations; }

void Migrate(Database& database, std::span<const Migration> migrations) {
  const bool is_ours = Pragma(database, "application_id") == kApplicationId;
  if (!is_ours && !IsEmpty(database)) {
    throw InputError(
        fmt::format("cannot use {}: it is a database of another program", database.path()));
  }
  const int newest = migrations.back().version;
  const int64_t found = Pragma(database, "user_version");
  if (found > newest) {
    throw InputError(
        fmt::format("cannot use {}: its schema version {} is newer than {}, the newest this "
                    "program knows; update the program",
                    database.path(), found, newest));
  }
  if (found == newest) return;
  if (database.mode() == Database::Mode::kReadOnly) {
    throw InputError(
        fmt::format("cannot use {}: its schema version {} has to be updated to {} "
                    "first; open it for writing once",
                    database.path(), found, newest));
  }
  for (const Migration& migration : migrations) {
    Transaction transaction(database);
    // Somebody else may have done it since we looked.
    if (Pragma(database, "user_version") >= migration.version) continue;
    database.Execute(migration.sql);
    database.Execute(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}",
                                 migration.version, kApplicationId));
    transaction.Commit();
  }
}

}  // namespace bayloom
