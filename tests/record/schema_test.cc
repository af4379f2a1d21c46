// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

constexpr Migration kHistory[] = {
    {1, "CREATE TABLE things (name TEXT)"},
    {2, "ALTER TABLE things ADD COLUMN size INTEGER NOT NULL DEFAULT 7"},
    {3, "CREATE TABLE others (name TEXT); INSERT INTO others SELECT name FROM things"},
};
const std::span<const Migration> kAll = kHistory;

int64_t Number(Database& database, const char* sql) {
  Statement statement(database, sql);
  Rows rows = statement.Start();
  return rows.Step() ? rows.Int(0) : -1;
}

TEST(Schema, OlderFilesAreBroughtUpToDateAndKeepTheirRows) {
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  {
    Database database(path, Database::Mode::kReadWrite);
    Migrate(database, kAll.first(1));
    database.Execute("INSERT INTO things VALUES ('old')");
  }
  Database database(path, Database::Mode::kReadWrite);
  Migrate(database, kAll);
  EXPECT_EQ(Number(database, "PRAGMA user_version"), 3);
  EXPECT_EQ(Number(database, "SELECT size FROM things WHERE name = 'old'"), 7);
  EXPECT_EQ(Number(database, "SELECT COUNT(*) FROM others"), 1);
  Migrate(database, kAll);  // nothing left to do
  EXPECT_EQ(Number(database, "SELECT COUNT(*) FROM others"), 1);
  EXPECT_THROW(Migrate(database, kAll.first(2)), InputError);
}

TEST(Schema, AStepIsWholeOrNotAtAll) {
  TemporaryFolder folder;
  Database database(folder / "a.db", Database::Mode::kReadWrite);
  Migrate(database, kAll.first(2));
  constexpr Migration broken[] = {
      kHistory[0], kHistory[1], {3, "CREATE TABLE half (name TEXT); SELECT nonsense"}};
  EXPECT_THROW(Migrate(database, broken), InputError);
  EXPECT_EQ(Number(database, "PRAGMA user_version"), 2);
  EXPECT_EQ(Number(database, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'half'"), 0);
  Migrate(database, kAll);
  EXPECT_EQ(Number(database, "PRAGMA user_version"), 3);
}

TEST(Schema, ReadingOnlyMigratesACopyOfAnOlderFile) {
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  {
    Database database(path, Database::Mode::kReadWrite);
    Migrate(database, kAll.first(1));
    database.Execute("INSERT INTO things VALUES ('old')");
  }
  {
    Database database(path, Database::Mode::kReadOnly);
    Migrate(database, kAll);
    EXPECT_EQ(Number(database, "SELECT size FROM things WHERE name = 'old'"), 7);
    EXPECT_THROW(database.Execute("DELETE FROM things"), InputError);
  }
  Database database(path, Database::Mode::kReadOnly);
  EXPECT_EQ(Number(database, "PRAGMA user_version"), 1);
}

}  // namespace
}  // namespace bayloom::record
