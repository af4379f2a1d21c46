// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/schema.h"
#include "bayloom/record/store.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

using testing::ElementsAre;

std::set<std::string> FilesOf(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

/// A closed store with this many trials.
std::string SampleFile(const TemporaryFolder& folder, int trials) {
  Store store(folder / "a.db");
  const Context context(store);
  for (int i = 0; i < trials; ++i) store.AddTrial(MakeTrial(context, i, 1));
  return folder / "a.db";
}

TEST(ReadOnly, ACleanEndLeavesTheDatabaseAlone) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder, 3);
  EXPECT_THAT(FilesOf(folder), ElementsAre("a.db"));
  {
    Store reader(path, Store::Mode::kReadOnly);
    ProgramPool pool(path, ProgramPool::Mode::kReadOnly);
    EXPECT_EQ(reader.CountTrials(1), 3);
    EXPECT_TRUE(pool.Tasks().empty());
  }
  EXPECT_THAT(FilesOf(folder), ElementsAre("a.db"));
  {
    Store reader(path, Store::Mode::kReadOnly);
    Store writer(path);
    writer.AddTask(Matmul(1, 1, 1));
    EXPECT_EQ(reader.Tasks().size(), 2u);
  }
  EXPECT_THAT(FilesOf(folder), ElementsAre("a.db"));
}

TEST(ReadOnly, AReaderSeesWhatAWriterWritesMeanwhile) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder, 2);
  Store reader(path, Store::Mode::kReadOnly);
  Store writer(path);
  Context context(writer);
  for (int i = 0; i < 5; ++i) {
    writer.AddTrial(MakeTrial(context, i, 1));
    EXPECT_EQ(reader.CountTrials(context.run), i + 1);
  }
  // Neither reader nor writer ends the other's log.
  { Store other(path, Store::Mode::kReadOnly); }
  writer.AddTrial(MakeTrial(context, 5, 1));
  EXPECT_EQ(reader.CountTrials(context.run), 6);
}

TEST(ReadOnly, WhatAKilledWriterLeftIsReadAndTidiedUp) {
  TemporaryFolder folder;
  const std::string path = folder / "a.db";
  const pid_t writer = fork();
  if (writer == 0) {
    SampleFile(folder, 0);
    Store store(path);
    const Context context(store);
    store.AddTrial(MakeTrial(context, 0, 1));
    _exit(0);  // no destructor runs
  }
  waitpid(writer, nullptr, 0);
  EXPECT_EQ(FilesOf(folder).size(), 3u);
  EXPECT_EQ(Store(path, Store::Mode::kReadOnly).CountTrials(2), 1);
  EXPECT_THAT(FilesOf(folder), ElementsAre("a.db"));
}

/// Runs `action` as a user who may write nothing of this folder; its status.
template <typename Action>
int AsStranger(const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(99);
    try {
      action();
    } catch (const std::exception& e) {
      fprintf(stderr, "%s\n", e.what());
      _exit(98);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ReadOnly, AFileThatMayNotBeWrittenIsReadWithoutALog) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder, 4);
  chmod(path.c_str(), 0444);
  for (const mode_t mode : {0555, 0777}) {
    chmod(folder.path().c_str(), mode);
    EXPECT_EQ(AsStranger([&] {
                Store store(path, Store::Mode::kReadOnly);
                EXPECT_EQ(store.CountTrials(1), 4);
                EXPECT_THROW(store.AddTask(Matmul(1, 1, 1)), InputError);
                EXPECT_THROW(Store{path}, InputError);
              }),
              0);
    EXPECT_THAT(FilesOf(folder), ElementsAre("a.db"));
  }
}

/// What a writer leaves that was killed: a file, a log with the newest trials, and its index.
std::string KilledWriter(const TemporaryFolder& folder) {
  const std::string path = folder / "a.db";
  const pid_t writer = fork();
  if (writer == 0) {
    SampleFile(folder, 2);
    Store store(path);
    const Context context(store);
    for (int i = 0; i < 3; ++i) store.AddTrial(MakeTrial(context, i, 1));
    _exit(0);
  }
  waitpid(writer, nullptr, 0);
  return path;
}

TEST(ReadOnly, ALogThatMayNotBeWrittenIsReadThroughACopy) {
  for (const bool has_index : {true, false}) {
    TemporaryFolder folder;
    const std::string path = KilledWriter(folder);
    if (!has_index) std::filesystem::remove(path + "-shm");
    for (const std::string& name : FilesOf(folder)) chmod((folder / name).c_str(), 0444);
    chmod(folder.path().c_str(), 0555);
    const std::set<std::string> before = FilesOf(folder);
    EXPECT_EQ(AsStranger([&] {
                Store store(path, Store::Mode::kReadOnly);
                EXPECT_EQ(store.CountTrials(1), 2);
                EXPECT_EQ(store.CountTrials(2), 3);
                EXPECT_THROW(store.AddTask(Matmul(1, 1, 1)), InputError);
              }),
              0);
    EXPECT_EQ(FilesOf(folder), before);
    chmod(folder.path().c_str(), 0777);
  }
}

TEST(ReadOnly, AStrangerSeesWhatAWriterWritesMeanwhile) {
  TemporaryFolder folder;
  const std::string path = SampleFile(folder, 2);
  Store writer(path);
  const Context context(writer);
  for (int i = 0; i < 3; ++i) writer.AddTrial(MakeTrial(context, i, 1));
  for (const std::string& name : FilesOf(folder)) chmod((folder / name).c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  EXPECT_EQ(AsStranger([&] {
              EXPECT_EQ(Store(path, Store::Mode::kReadOnly).CountTrials(context.run), 3);
            }),
            0);
  chmod(folder.path().c_str(), 0777);
}

/// Runs `action` where the folder is on a file system that is mounted for reading only; 77 where
/// such a mount is not allowed.
template <typename Action>
int OnReadOnlyMount(const TemporaryFolder& folder, const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    const char* path = folder.path().c_str();
    const bool is_mounted =
        (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount(path, path, nullptr, MS_BIND, nullptr) == 0 &&
        mount(nullptr, path, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
    if (!is_mounted) _exit(77);
    try {
      action();
    } catch (const std::exception& e) {
      fprintf(stderr, "%s\n", e.what());
      _exit(98);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ReadOnly, AReadOnlyMountIsReadWithAndWithoutALog) {
  for (const bool has_log : {false, true}) {
    TemporaryFolder folder;
    const std::string path = has_log ? KilledWriter(folder) : SampleFile(folder, 2);
    const int status = OnReadOnlyMount(folder, [&] {
      Store store(path, Store::Mode::kReadOnly);
      EXPECT_EQ(store.CountTrials(1), 2);
      if (has_log) {
        EXPECT_EQ(store.CountTrials(2), 3);
      }
      ProgramPool pool(path, ProgramPool::Mode::kReadOnly);
      EXPECT_TRUE(pool.Groups().empty());
      EXPECT_THROW(Store{path}, InputError);
    });
    if (status == 77) GTEST_SKIP() << "mounting is not allowed";
    EXPECT_EQ(status, 0);
  }
}

TEST(ReadOnly, AFileOfAnOlderSchemaThatMayNotBeWrittenIsReadAsACopy) {
  TemporaryFolder folder;
  const std::string path = folder / "odd name?#%.db";
  Database(path, Database::Mode::kReadWrite)
      .Execute(std::string(StoreMigrations()[0].sql) +
               "PRAGMA user_version = 1; PRAGMA application_id = 0x42796c6d");
  chmod(path.c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  EXPECT_EQ(AsStranger([&] {
              Store store(path, Store::Mode::kReadOnly);
              EXPECT_TRUE(store.Runs().empty());
              ProgramPool pool(path, ProgramPool::Mode::kReadOnly);
              EXPECT_TRUE(pool.Groups().empty());
            }),
            0);
  chmod(folder.path().c_str(), 0777);
  EXPECT_THAT(FilesOf(folder), ElementsAre("odd name?#%.db"));
}

}  // namespace
}  // namespace bayloom::record
