// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/scratch_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "tests/with_variable.h"

namespace bayloom::base {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

TEST(ScratchFolder, IsRemovedWithItsContents) {
  std::string path;
  {
    const ScratchFolder folder;
    path = folder.path();
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_TRUE(fs::is_empty(path));
    fs::create_directories(folder / "deep/er");
    std::ofstream(folder / "deep/er/file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolder, TakesFiles) {
  const ScratchFolder folder;
  EXPECT_EQ(folder.Write("file", "first text"), folder / "file");
  folder.Write("file", "second");
  EXPECT_EQ(ReadFile(folder / "file"), "second");
  EXPECT_THROW(folder.Write("missing/file", "text"), SystemError);
}

TEST(ScratchFolder, EachIsAnother) {
  const ScratchFolder a, b;
  EXPECT_NE(a.path(), b.path());
}

TEST(ScratchFolder, GoesWhereTmpdirSaysOrWhereTold) {
  const ScratchFolder outer;
  const WithVariable tmpdir("TMPDIR", outer.path());
  const ScratchFolder inner;
  EXPECT_EQ(fs::path(inner.path()).parent_path(), outer.path());
  const ScratchFolder innermost(inner.path());
  EXPECT_EQ(fs::path(innermost.path()).parent_path(), inner.path());
}

TEST(ScratchFolder, SaysWhereNoneCanBeCreated) {
  const WithVariable tmpdir("TMPDIR", "/nonexistent");
  try {
    const ScratchFolder folder;
    FAIL() << folder.path();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'/nonexistent'"), HasSubstr("No such file")));
  }
  EXPECT_THROW(ScratchFolder("/nonexistent/either"), InputError);
}

/// A process that makes a scratch folder with a file in it and waits to be killed.
class FolderOwner {
 public:
  explicit FolderOwner(const std::string& parent) {
    int ends[2];
    if (pipe(ends) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      const ScratchFolder folder(parent);
      folder.Write("file", "text");
      [[maybe_unused]] const ssize_t sent =
          write(ends[1], folder.path().data(), folder.path().size());
      while (true) pause();
    }
    char path[4096];
    const ssize_t length = read(ends[0], path, sizeof(path));
    path_.assign(path, std::max<ssize_t>(length, 0));
    for (const int end : ends) close(end);
  }
  ~FolderOwner() { Kill(); }
  FolderOwner(const FolderOwner&) = delete;
  FolderOwner& operator=(const FolderOwner&) = delete;

  const std::string& path() const { return path_; }
  void Kill() {
    if (process_ > 0) kill(process_, SIGKILL);
    if (process_ > 0) waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  std::string path_;
};

TEST(ScratchFolder, ThatOfAKilledProcessIsRemovedByTheNext) {
  const ScratchFolder parent;
  FolderOwner owner(parent.path());
  owner.Kill();
  ASSERT_TRUE(fs::exists(owner.path() + "/file"));
  { const ScratchFolder next(parent.path()); }
  EXPECT_TRUE(fs::is_empty(parent.path()));
}

TEST(ScratchFolder, NothingOfAnybodyElseIsRemoved) {
  const ScratchFolder parent;
  const FolderOwner alive(parent.path());
  const ScratchFolder own(parent.path());
  FolderOwner dead(parent.path());
  const std::string elsewhere = parent / "elsewhere";
  dead.Kill();
  fs::create_directory(elsewhere);
  std::ofstream(elsewhere + "/file") << "text";
  // Names that only look like it, and a link with the name of a dead folder.
  const std::string name = fs::path(dead.path()).filename();
  for (const char* other : {"bayloom-abc123", "bayloom-1-2-abcdef-more", "bayloom-x-y-abcdef"}) {
    fs::create_directory(parent / other);
  }
  fs::remove_all(dead.path());
  fs::create_directory_symlink(elsewhere, dead.path());
  // That of a process that runs and cannot be seen from here.
  const std::string locked = parent / "bayloom-999999999-1-abcdef";
  fs::create_directory(locked);
  const int lock = open(locked.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);

  EXPECT_EQ(RemoveDeadScratchFolders(parent.path()), 0);
  EXPECT_TRUE(fs::exists(alive.path() + "/file"));
  EXPECT_TRUE(fs::exists(own.path()));
  EXPECT_TRUE(fs::exists(elsewhere + "/file"));
  EXPECT_TRUE(fs::exists(parent / "bayloom-abc123"));
  EXPECT_TRUE(fs::exists(locked));
  close(lock);
  EXPECT_EQ(RemoveDeadScratchFolders(parent.path()), 1);
  EXPECT_FALSE(fs::exists(locked));
}

}  // namespace
}  // namespace bayloom::base
