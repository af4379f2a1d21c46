// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Databases with values that no version wrote: a command that reads them answers, or refuses in one
// line. BAYLOOM_FUZZ_ROUNDS sets how many are tried.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/record/database.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/session_log.h"
#include "tests/cli/run_bayloom.h"
#include "tests/cli/sample_databases.h"
#include "tests/temporary_folder.h"

namespace bayloom::cli {
namespace {

const std::pair<const char*, std::vector<const char*>> kTables[] = {
    {"targets", {"hash", "json", "machine"}},
    {"tasks", {"id", "hash", "name", "text", "workload"}},
    {"runs",
     {"id", "uuid", "kind", "name", "definition", "target", "objective", "maximize", "proposer",
      "seed", "started", "finished", "state", "state", "state"}},
    {"trials",
     {"run", "ordinal", "task", "target", "candidate", "key", "proposer", "verdict", "value",
      "reason", "details", "elapsed", "timestamp", "cut_short"}},
    {"metrics", {"run", "task", "batch", "name", "value"}},
    {"pool_groups", {"name", "task", "weight"}},
    {"pool_chunks", {"task", "first", "count", "programs", "features"}}};

std::string HostileValue(base::RandomStream& random) {
  static const std::string kValues[] = {"NULL",
                                        "-1",
                                        "0",
                                        "1",
                                        "2",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1e300",
                                        "-1.0",
                                        "9e999",
                                        "''",
                                        "'x'",
                                        "'ok'",
                                        "'tune'",
                                        "'map'",
                                        "'search'",
                                        "'{}'",
                                        "'[]'",
                                        "'null'",
                                        "'[1,2'",
                                        "x'00ff1b'",
                                        "x'000000000000004078'",
                                        "char(27) || '[2J' || char(10)",
                                        "replace(printf('%.200000c', 'x'), 'x', '[')",
                                        "printf('%.200000c', 'x')",
                                        R"('{"seconds":1,"slots":[[1,-5,0],[1,29,0]]}')",
                                        R"('{"seconds":1,"slots":[[]]}')",
                                        R"('{"seconds":1,"slots":[[99,1,0]],"weights":[[1,"x"]]}')",
                                        R"('{"seconds":1,"slots":[[1,0,0],[7,0,0]]}')",
                                        R"('{"strategy":7,"scheduler":[]}')",
                                        R"('{"space":-7,"trace":[{}]}')",
                                        R"('{"space":1e300,"trace":7}')",
                                        R"('{"name":"m","buffers":[],"stages":[]}')",
                                        R"('{"spread":"x"}')",
                                        R"('{"spread":1e308}')"};
  return kValues[random.UniformInt(std::size(kValues))];
}

/// Overwrites a value in one row or in all, if the table takes it.
std::string Attack(const std::string& path, base::RandomStream& random) {
  const auto& [table, columns] = kTables[random.UniformInt(std::size(kTables))];
  const std::string column = columns[random.UniformInt(std::ssize(columns))];
  std::string sql =
      "UPDATE OR IGNORE " + std::string(table) + " SET " + column + " = " + HostileValue(random);
  if (random.UniformInt(2) == 0) {
    sql += " WHERE " + column + " = (SELECT " + column + " FROM " + table + " LIMIT 1 OFFSET " +
           std::to_string(random.UniformInt(3)) + ")";
  }
  record::Database database(path, record::Database::Mode::kReadWrite);
  try {
    database.Execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; " + sql);
  } catch (const InputError&) {
    // NOT NULL, or a type that a key must have.
  }
  return sql;
}

void ExpectAnswered(const std::vector<std::string>& arguments) {
  const Answer answer = RunBayloom(arguments);
  EXPECT_TRUE(answer.exit_code == 0 || answer.exit_code == 2) << answer.error;
  EXPECT_EQ(answer.error.find("internal error"), std::string::npos) << answer.error;
  EXPECT_EQ(answer.error.find("exception"), std::string::npos) << answer.error;
  EXPECT_LE(answer.error.size(), 1100u);
  EXPECT_EQ(answer.error.find('\x1b'), std::string::npos);
  EXPECT_EQ(answer.out.find('\x1b'), std::string::npos);
  if (answer.exit_code == 0) return;
  EXPECT_EQ(answer.error.find('\n'), answer.error.size() - 1) << answer.error;
  EXPECT_NE(answer.error.find("attacked.db"), std::string::npos) << answer.error;
}

/// What resuming and training read.
void ReadToGoOn(const std::string& path) {
  try {
    record::Store store(path);
    for (const record::RunRecord& run : store.Runs()) {
      try {
        if (run.target) tuning::SessionLog::Resume(store, run.id, *run.target);
      } catch (const InputError&) {
      }
    }
    record::ProgramPool pool(path);
    for (const record::TaskId task : pool.Tasks()) {
      pool.Visit(task, record::ProgramPool::Part::kAll,
                 [](int64_t, std::span<const record::PoolProgram>) {});
    }
  } catch (const InputError&) {
  }
}

TEST(HostileDatabase, IsAnsweredOrRefusedInOneLine) {
  const char* wanted = std::getenv("BAYLOOM_FUZZ_ROUNDS");
  const int rounds = wanted ? std::atoi(wanted) : 120;
  const TemporaryFolder folder;
  for (const char* name : kSampleDatabases) {
    UnpackSample(name, folder / name);
    const record::Store store(folder / name);  // of the present schema
  }
  const std::string path = folder / "attacked.db";
  base::RandomStream random(wanted ? std::random_device()() : 11);
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    const std::string name = kSampleDatabases[random.UniformInt(std::size(kSampleDatabases))];
    std::filesystem::copy_file(folder / name, path,
                               std::filesystem::copy_options::overwrite_existing);
    std::string attacks = name;
    for (int64_t i = random.UniformInt(3); i >= 0; --i) attacks += "; " + Attack(path, random);
    SCOPED_TRACE(attacks);
    ExpectAnswered({"show", path});
    ExpectAnswered({"show", path, "--json"});
    ExpectAnswered({"show", path, "--run", "1", "--history"});
    ExpectAnswered({"show", path, "--task", "1", "--history"});
    ExpectAnswered({"report", path});
    ExpectAnswered({"report", path, "--json"});
    ExpectAnswered({"report", path, "--html", folder / "page.html"});
    ExpectAnswered({"records", "clean", path, "--remove"});
    const std::string lines = folder / "attacked.db.jsonl";
    std::filesystem::remove(lines);
    ExpectAnswered({"records", "export", path, "--out", lines});
    if (std::filesystem::exists(lines)) {
      ExpectAnswered({"records", "import", folder / "imported.db", lines});
    }
    ReadToGoOn(path);
  }
}

}  // namespace
}  // namespace bayloom::cli
