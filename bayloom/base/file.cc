// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>
#include <streambuf>

#include "bayloom/base/descriptor.h"
#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"

namespace bayloom::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void ThrowReadError(const std::string& path, int error_number) {
  ThrowPathError(fmt::format("cannot read '{}'", path), error_number);
}

[[noreturn]] void ThrowWriteError(const std::string& path, int error_number) {
  ThrowPathError(fmt::format("cannot write '{}'", path), error_number);
}

/// Writes to a descriptor and remembers the first error's number, which std::filebuf does not.
class WriteBuffer final : public std::streambuf {
 public:
  explicit WriteBuffer(int descriptor) : descriptor_(descriptor) { Clear(); }

  /// 0 if all has been written so far.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type next) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(next, traits_type::eof())) {
      sputc(traits_type::to_char_type(next));
    }
    return traits_type::not_eof(next);
  }

  int sync() override {
    if (error_ == 0) {
      error_ = WriteAll(descriptor_, {pbase(), static_cast<size_t>(pptr() - pbase())});
    }
    Clear();
    return error_ == 0 ? 0 : -1;
  }

 private:
  void Clear() { setp(buffer_, buffer_ + sizeof(buffer_)); }

  int descriptor_;
  int error_ = 0;
  char buffer_[65536];
};

/// Lets `write` produce the content of an open file; 0 or an error's number.
int WriteContent(int descriptor, const std::function<void(std::ostream&)>& write) {
  const auto buffer = std::make_unique<WriteBuffer>(descriptor);
  std::ostream stream(buffer.get());
  write(stream);
  stream.flush();
  return buffer->error();
}

/// The file that a path leads to through symbolic links; the path itself if there is none.
std::string ResolveLinks(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
                                                             &std::free);
  return resolved == nullptr ? path : resolved.get();
}

/// Names of what this process has open: to replace the file would take it from the others who write
/// there.
bool IsOpenStream(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/");
}

void WriteInPlace(const std::string& path, const std::function<void(std::ostream&)>& write) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (file.number() < 0) ThrowWriteError(path, errno);
  if (const int error = WriteContent(file.number(), write); error != 0) {
    ThrowWriteError(path, error);
  }
  if (const int error = file.Close(); error != 0) ThrowWriteError(path, error);
}

/// A new file beside another; removed unless it took that one's place.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path)
      : path_(fmt::format("{}.partial-{}-{}", path, getpid(), ++count_)),
        file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {}
  ~PartialFile() {
    if (file_.number() >= 0) unlink(path_.c_str());
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  int descriptor() const { return file_.number(); }

  /// 0, or what is wrong.
  int TakePlaceOf(const std::string& path) {
    if (fsync(file_.number()) != 0) return errno;
    if (rename(path_.c_str(), path.c_str()) != 0) return errno;
    return file_.Close();
  }

 private:
  static inline std::atomic<int> count_ = 0;

  std::string path_;
  Descriptor file_;
};

}  // namespace

int WriteAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t bytes = write(descriptor, content.data(), content.size());
    if (bytes >= 0) content.remove_prefix(static_cast<size_t>(bytes));
    if (bytes < 0 && errno != EINTR) return errno;
  }
  return 0;
}

std::string ReadFile(const std::string& path, size_t max_bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) ThrowReadError(path, errno);
  std::string content;
  struct stat status;
  if (fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    content.reserve(std::min(static_cast<size_t>(status.st_size), max_bytes));
  }
  const auto buffer = std::make_unique<char[]>(65536);
  while (true) {
    const ssize_t bytes = read(file.number(), buffer.get(), 65536);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) ThrowReadError(path, errno);
    if (bytes == 0) return content;
    content.append(buffer.get(), static_cast<size_t>(bytes));
    if (content.size() > max_bytes) {
      throw InputError(
          fmt::format("cannot use '{}': it is larger than {} MiB", path, max_bytes >> 20));
    }
  }
}

void WriteFile(const std::string& path, std::string_view content) {
  WriteFile(path, [content](std::ostream& stream) {
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

void WriteFile(const std::string& path, const std::function<void(std::ostream&)>& write) {
  struct stat before = {};
  const bool exists = stat(path.c_str(), &before) == 0;
  if (exists && S_ISDIR(before.st_mode)) ThrowWriteError(path, EISDIR);
  if (exists && (!S_ISREG(before.st_mode) || IsOpenStream(path))) return WriteInPlace(path, write);
  if (exists && access(path.c_str(), W_OK) != 0) ThrowWriteError(path, errno);
  const std::string target = ResolveLinks(path);
  PartialFile partial(target);
  if (partial.descriptor() < 0) ThrowWriteError(path, errno);
  if (exists) fchmod(partial.descriptor(), before.st_mode & 07777);
  int error = WriteContent(partial.descriptor(), write);
  if (error == 0) error = partial.TakePlaceOf(target);
  if (error != 0) ThrowWriteError(path, error);
}

void MoveFile(const std::string& from, const std::string& to) {
  const Descriptor file(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0 || fsync(file.number()) != 0) ThrowReadError(from, errno);
  if (rename(from.c_str(), to.c_str()) != 0) ThrowWriteError(to, errno);
}

void CheckFolderOf(const std::string& path) {
  if (path.empty()) return;
  struct stat status = {};
  const bool is_special = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const std::string written = is_special ? path : fs::absolute(path).parent_path().string();
  if (access(written.c_str(), W_OK) != 0) ThrowWriteError(path, errno);
}

void CreateFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) ThrowPathError(fmt::format("cannot create the folder '{}'", path), error.value());
}

}  // namespace bayloom::base
