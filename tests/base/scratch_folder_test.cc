// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// Sets TMPDIR for a while.
class WithTmpdir {
 public:
  explicit WithTmpdir(const std::string& folder) {
    if (const char* before = getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder.c_str(), 1);
  }
  ~WithTmpdir() {
    if (before_.empty()) {
      unsetenv("TMPDIR");
    } else {
      setenv("TMPDIR", before_.c_str(), 1);
    }
  }
  WithTmpdir(const WithTmpdir&) = delete;
  WithTmpdir& operator=(const WithTmpdir&) = delete;

 private:
  std::string before_;
};

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
  const WithTmpdir tmpdir(outer.path());
  const ScratchFolder inner;
  EXPECT_EQ(fs::path(inner.path()).parent_path(), outer.path());
  const ScratchFolder innermost(inner.path());
  EXPECT_EQ(fs::path(innermost.path()).parent_path(), inner.path());
}

TEST(ScratchFolder, SaysWhereNoneCanBeCreated) {
  const WithTmpdir tmpdir("/nonexistent");
  try {
    const ScratchFolder folder;
    FAIL() << folder.path();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'/nonexistent'"), HasSubstr("No such file")));
  }
  EXPECT_THROW(ScratchFolder("/nonexistent/either"), InputError);
}

}  // namespace
}  // namespace bayloom::base
