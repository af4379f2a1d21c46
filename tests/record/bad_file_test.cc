// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/system_error.h"
#include "bayloom/record/schema.h"
#include "bayloom/record/store.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

using testing::HasSubstr;

/// The message of the error of this type that `action` ends with.
template <typename Failure = InputError>
std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "no error";
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

/// A closed database file with trials in it.
std::string SampleFile(const TemporaryFolder& folder) {
  const std::string path = folder / "sample.db";
  Store store(path);
  const Context context(store);
  for (int i = 0; i < 50; ++i) store.AddTrial(MakeTrial(context, i, 1 + i));
  store.SaveState(context.run, "state", std::vector<Metric>{{context.task, 0, "rmse", 1}});
  return path;
}

TEST(BadFile, EveryKindIsNamedInOneLine) {
  TemporaryFolder folder;
  const std::string text = folder / "text.db";
  Write(text, std::string(5000, 'x'));
  EXPECT_EQ(ErrorOf([&] { Store store(text); }), "cannot use " + text + ": it is not a database");
  const std::string missing = folder / "missing/a.db";
  EXPECT_EQ(ErrorOf([&] { Store store(missing); }),
            "cannot write '" + missing + "': No such file or directory");
  EXPECT_EQ(ErrorOf([&] { Store store(folder / "none.db", Store::Mode::kReadOnly); }),
            "cannot use " + folder / "none.db" + ": No such file or directory");
  EXPECT_THAT(ErrorOf([&] { Store store(folder / ""); }), HasSubstr("directory"));

  const std::string foreign = folder / "foreign.db";
  Database(foreign, Database::Mode::kReadWrite).Execute("CREATE TABLE songs (name TEXT)");
  EXPECT_EQ(ErrorOf([&] { Store store(foreign); }),
            "cannot use " + foreign + ": it is a database of another program");

  const std::string future = SampleFile(folder);
  Database(future, Database::Mode::kReadWrite).Execute("PRAGMA user_version = 99");
  EXPECT_THAT(ErrorOf([&] { Store store(future); }), HasSubstr("schema version 99 is newer than"));
}

TEST(BadFile, ALockedFileIsNotWaitedForForEver) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder);
  Database holder(path, Database::Mode::kReadWrite);
  Transaction transaction(holder);
  Database other(path, Database::Mode::kReadWrite, /*patience_seconds=*/0.05);
  EXPECT_EQ(
      ErrorOf<SystemError>([&] { other.Execute("UPDATE runs SET state = ''"); }),
      "cannot use " + path + ": another process keeps it locked; wait for that process or end it");
}

TEST(BadFile, WhoeverObservesLocksWaitsOn) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder);
  Database holder(path, Database::Mode::kReadWrite);
  auto transaction = std::make_unique<Transaction>(holder);
  std::vector<double> told;
  SetLockObserver([&](const std::string& locked, double seconds) {
    EXPECT_EQ(locked, path);
    told.push_back(seconds);
    if (told.size() == 3) transaction.reset();  // the other process is done
    return true;
  });
  Database other(path, Database::Mode::kReadWrite, /*patience_seconds=*/0.02);
  other.Execute("UPDATE runs SET state = 'written after all'");
  EXPECT_GE(told.size(), 3u);
  EXPECT_GE(told[0], 0.02);
  EXPECT_GE(told[2], 0.08);
  transaction = std::make_unique<Transaction>(holder);
  SetLockObserver([](const std::string&, double) { return false; });
  EXPECT_THROW(other.Execute("UPDATE runs SET state = ''"), SystemError);
  SetLockObserver([](const std::string&, double) { return true; });
  base::RequestStop();
  EXPECT_THAT(ErrorOf<StoppedAtLock>([&] { other.Execute("UPDATE runs SET state = ''"); }),
              HasSubstr("stopped while another process kept " + path +
                        " locked; what was recorded is kept"));
  base::ClearStop();
  SetLockObserver({});
}

TEST(BadFile, ViewsAndTriggersInPlaceOfTablesAreRefused) {
  const char* kAttacks[] = {
      "ALTER TABLE trials RENAME TO kept; CREATE VIEW trials AS WITH RECURSIVE n(i) AS (SELECT 1 "
      "UNION ALL SELECT i + 1 FROM n) SELECT * FROM kept, n",
      "CREATE TRIGGER t AFTER INSERT ON tasks BEGIN DELETE FROM trials; END"};
  for (const char* attack : kAttacks) {
    TemporaryFolder folder;
    const std::string path = SampleFile(folder);
    Database(path, Database::Mode::kReadWrite).Execute(attack);
    for (const auto mode : {Store::Mode::kReadOnly, Store::Mode::kReadWrite}) {
      EXPECT_THAT(ErrorOf([&] { Store store(path, mode); }),
                  testing::MatchesRegex("cannot use .*: it holds the (view 'trials'|trigger 't'), "
                                        "which does not belong in a database of records"));
    }
  }
}

TEST(BadFile, ReadOnlyStoresRefuseToWrite) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder);
  Store store(path, Store::Mode::kReadOnly);
  EXPECT_EQ(store.Runs().size(), 1u);
  EXPECT_EQ(store.AddTask(Matmul(4, 8, 16)), 1);
  EXPECT_THAT(ErrorOf([&] { store.AddTask(Matmul(1, 1, 1)); }), HasSubstr("may not be written"));
}

TEST(BadFile, AFullDiskKeepsWhatWasThere) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder);
  {
    Store store(path);
    Context context(store);
    rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {64 << 10, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = ErrorOf<SystemError>([&] {
      for (int i = 0; i < 10000; ++i) store.AddTrial(MakeTrial(context, i, 1));
    });
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(message, testing::StartsWith("cannot use " + path + ": reading or writing failed"));
    EXPECT_TRUE(store.AddTrial(MakeTrial(context, 20000, 1)));  // works again
  }
  EXPECT_EQ(Store(path).TrialsOfRun(1).size(), 50u);
}

/// What no version writes, as a worker of an earlier one said.
TEST(BadFile, AnInfiniteValueIsDamageOfANamedTrial) {
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  {
    Store store(path);
    const RunId run = store.BeginRun(SampleSearch("flags")).id;
    store.AddTrial(MakeConfiguration(run, 0, 1));
    store.AddTrial(MakeConfiguration(run, 1, -std::numeric_limits<double>::infinity()));
  }
  Store store(path);
  EXPECT_EQ(store.TrialsOfRun(1, 0, 1).size(), 1u);
  EXPECT_EQ(ErrorOf([&] { store.TrialsOfRun(1); }),
            "cannot use " + path + ": it is damaged: trial 1 of run 1 has the value -inf");
}

/// Reads everything there is to read.
void ReadAll(const std::string& path) {
  Store store(path);
  store.Targets();
  for (const TaskRecord& task : store.Tasks()) store.WorkloadOf(task.id);
  for (const RunRecord& run : store.Runs()) {
    store.TrialsOfRun(run.id);
    store.MetricsOf(run.id);
    if (run.target) store.TargetOf(*run.target);
  }
  store.BestOf(1, 1, 100);
  store.TrialsOf(1, 1);
  Context context(store);
  store.AddTrial(MakeTrial(context, 1000, 1));
}

TEST(BadFile, DamageNeverEndsInAnythingButOneLine) {
  TemporaryFolder folder;
  const std::string good = Contents(SampleFile(folder));
  ASSERT_GT(good.size(), 10000u);
  const std::string path = folder / "damaged.db";
  base::RandomStream random(7);
  int noticed = 0;
  for (int round = 0; round < 150; ++round) {
    std::string bad = good;
    if (round % 3 == 0) {
      bad.resize(random.UniformInt(static_cast<int64_t>(bad.size())));
    } else {
      const int64_t flips = int64_t{1} << random.UniformInt(10);
      for (int64_t i = 0; i < flips; ++i) {
        bad[random.UniformInt(static_cast<int64_t>(bad.size()))] ^=
            static_cast<char>(1 << random.UniformInt(8));
      }
    }
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
    Write(path, bad);
    // A system error, if the damage is such that the file cannot be read where it should.
    noticed += ErrorOf<std::runtime_error>([&] { ReadAll(path); }) != "no error";
  }
  EXPECT_GT(noticed, 50);
}

}  // namespace
}  // namespace bayloom::record
