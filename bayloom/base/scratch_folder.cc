// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "bayloom/base/file.h"
#include "bayloom/base/path_error.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

std::string TemporaryFolder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& parent) {
  const std::string folder = parent.empty() ? TemporaryFolder() : parent;
  path_ = folder + (parent.empty() ? "/bayloom-XXXXXX" : "/.bayloom-XXXXXX");
  if (mkdtemp(path_.data()) == nullptr) {
    const int error = errno;
    const std::string what = fmt::format("cannot create a folder in '{}'", folder);
    if (!parent.empty()) ThrowPathError(what, error);
    throw SystemError(what + ": " + std::generic_category().message(error));
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
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
