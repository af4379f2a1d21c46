// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "bayloom/base/file.h"
#include "bayloom/base/path_error.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

namespace fs = std::filesystem;

/// A process, told apart from all that had its number before.
struct Owner {
  int process = 0;
  int64_t start = 0;  ///< when it began, in clock ticks since the machine did
};

/// nullopt if there is no such process (any more).
std::optional<int64_t> StartOf(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string stat;
  std::getline(file, stat);
  const size_t name_end = stat.rfind(')');  // names may contain blanks and parentheses
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  constexpr int kStartField = 22, kFirstField = 3;
  for (int i = kFirstField; i <= kStartField; ++i) fields >> field;
  return std::strtoll(field.c_str(), nullptr, 10);
}

/// The owner that a scratch folder's name carries; nullopt for other names.
std::optional<Owner> OwnerIn(const std::string& name) {
  const char* const text = name.c_str() + (name.starts_with('.') ? 1 : 0);
  Owner owner;
  int length = 0;
  long long start = 0;
  constexpr int kRandomLetters = 6;
  if (std::sscanf(text, "bayloom-%d-%lld-%*6[A-Za-z0-9]%n", &owner.process, &start, &length) != 2 ||
      length < kRandomLetters || text[length] != '\0') {
    return std::nullopt;
  }
  owner.start = start;
  return owner;
}

std::string TemporaryFolder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

/// The folder itself, not what a link points to; locked for this process, or -1.
int Lock(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  if (flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  close(folder);
  return -1;
}

bool RemoveIfDead(const fs::path& path) {
  const std::optional<Owner> owner = OwnerIn(path.filename().string());
  if (!owner || StartOf(owner->process) == owner->start) return false;
  const int folder = Lock(path.string());
  if (folder < 0) return false;
  struct stat status;
  std::error_code failed;
  const bool is_ours = fstat(folder, &status) == 0 && status.st_uid == geteuid();
  const bool removed = is_ours && fs::remove_all(path, failed) > 0 && !failed;
  close(folder);
  return removed;
}

/// Once for each place.
void RemoveDeadOnce(const std::string& parent) {
  static std::mutex mutex;
  static std::set<std::string> done;
  {
    const std::lock_guard lock(mutex);
    if (!done.insert(parent).second) return;
  }
  RemoveDeadScratchFolders(parent);
}

}  // namespace

int RemoveDeadScratchFolders(const std::string& parent) {
  int removed = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(parent, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    removed += RemoveIfDead(entry->path());
  }
  return removed;
}

ScratchFolder::ScratchFolder(const std::string& parent) {
  const std::string folder = parent.empty() ? TemporaryFolder() : parent;
  RemoveDeadOnce(folder);
  path_ = fmt::format("{}/{}bayloom-{}-{}-XXXXXX", folder, parent.empty() ? "" : ".", getpid(),
                      StartOf(getpid()).value_or(0));
  if (mkdtemp(path_.data()) == nullptr) {
    const int error = errno;
    const std::string what = fmt::format("cannot create a folder in '{}'", folder);
    if (!parent.empty()) ThrowPathError(what, error);
    throw SystemError(fmt::format("{}: {}; set TMPDIR to a folder that can be written to", what,
                                  std::generic_category().message(error)));
  }
  lock_ = Lock(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

std::string ScratchFolder::operator/(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

std::string ScratchFolder::Write(std::string_view name, std::string_view content) const {
  std::string path = *this / name;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : WriteAll(file, content);
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  if (error != 0) {
    throw SystemError(
        fmt::format("cannot write '{}': {}", path, std::generic_category().message(error)));
  }
  return path;
}

}  // namespace bayloom::base
