// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <ostream>
#include <stdexcept>

#include "bayloom/base/result.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

int64_t FilesIn(const ScratchFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

template <typename Error, typename Action>
std::string MessageOf(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Files cannot grow beyond some bytes while this lives, as if the disk were full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_;
  void (*handler_)(int);
};

TEST(WriteFile, GivesBackWhatWasWritten) {
  const ScratchFolder folder;
  for (const size_t bytes : {0, 1, 65535, 65536, 65537, 300000}) {
    std::string content(bytes, 'x');
    if (bytes > 0) content.back() = '\0';
    WriteFile(folder / "file", content);
    EXPECT_EQ(ReadFile(folder / "file"), content);
  }
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(WriteFile, KeepsTheFileBeforeWhereWritingFails) {
  const ScratchFolder folder;
  const std::string path = folder / "file";
  WriteFile(path, "before");
  {
    const FileSizeLimit limit(100000);
    EXPECT_THAT(MessageOf<SystemError>([&] { WriteFile(path, std::string(200000, 'x')); }),
                AllOf(HasSubstr(path), HasSubstr("File too large")));
    EXPECT_THROW(WriteFile(folder / "new", std::string(200000, 'x')), SystemError);
  }
  EXPECT_THROW(WriteFile(path,
                         [](std::ostream& stream) {
                           stream << "half";
                           throw std::logic_error("on the way");
                         }),
               std::logic_error);
  EXPECT_EQ(ReadFile(path), "before");
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(WriteFile, TellsAFullDiskFromAnImpossiblePath) {
  EXPECT_THAT(MessageOf<SystemError>([] { WriteFile("/dev/full", "text"); }),
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
  const ScratchFolder folder;
  WriteFile(folder / "file", "text");
  for (const std::string& path :
       {folder / "missing/file", folder / "file/file", folder.path(), std::string()}) {
    EXPECT_THROW(WriteFile(path, "text"), InputError) << path;
  }
  EXPECT_THROW((void)ReadFile(folder / "missing"), InputError);
  EXPECT_THROW((void)ReadFile(folder.path()), InputError);
}

TEST(WriteFile, WritesToDevicesAndThroughLinks) {
  WriteFile("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const ScratchFolder folder;
  WriteFile(folder / "file", "before");
  fs::create_symlink("file", folder / "link");
  WriteFile(folder / "link", "after");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(ReadFile(folder / "file"), "after");
}

TEST(WriteFile, DoesNotReplaceFilesThatAreOpen) {
  const ScratchFolder folder;
  const int file = open(folder.Write("file", "before, and more").c_str(), O_RDWR);
  WriteFile("/dev/fd/" + std::to_string(file), "text");
  ASSERT_EQ(pwrite(file, " and more", 9, 4), 9);
  close(file);
  EXPECT_EQ(ReadFile(folder / "file"), "text and more");
}

TEST(WriteFile, KeepsPermissionsAndHeedsTheMask) {
  const ScratchFolder folder;
  const mode_t mask = umask(027);
  WriteFile(folder / "file", "text");
  umask(mask);
  struct stat status;
  ASSERT_EQ(stat((folder / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  chmod((folder / "file").c_str(), 0600);
  WriteFile(folder / "file", "text");
  ASSERT_EQ(stat((folder / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(ReadFile, HasALimit) {
  const ScratchFolder folder;
  WriteFile(folder / "file", std::string(size_t{2} << 20, 'x'));
  EXPECT_EQ(ReadFile(folder / "file", size_t{2} << 20).size(), size_t{2} << 20);
  EXPECT_THAT(MessageOf<InputError>([&] { (void)ReadFile(folder / "file", size_t{1} << 20); }),
              HasSubstr("larger than 1 MiB"));
}

TEST(Folders, AreCheckedAndCreated) {
  const ScratchFolder folder;
  CheckFolderOf("");
  CheckFolderOf(folder / "file");
  EXPECT_THROW(CheckFolderOf(folder / "a/b/file"), InputError);
  CreateFolder(folder / "a/b");
  CheckFolderOf(folder / "a/b/file");
  WriteFile(folder / "file", "text");
  EXPECT_THROW(CreateFolder(folder / "file/b"), InputError);
}

}  // namespace
}  // namespace bayloom::base
