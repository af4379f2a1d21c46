// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/control_group_parent.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include "bayloom/base/control_group.h"
#include "bayloom/base/descriptor.h"

namespace bayloom::base {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// mountinfo writes blanks, line breaks and backslashes of paths as three octal digits.
std::string WithoutEscapes(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string digits(text.substr(i + 1, 3));
    const bool is_escape = text[i] == '\\' && digits.size() == 3 &&
                           digits.find_first_not_of("01234567") == std::string::npos;
    plain += is_escape ? static_cast<char>(std::stoi(digits, nullptr, 8)) : text[i];
    if (is_escape) i += 3;
  }
  return plain;
}

/// The path of the process's group below the root of its control groups of version 2.
std::optional<std::string> OwnGroup(std::string_view groups) {
  std::istringstream lines{std::string(groups)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return std::nullopt;
}

/// What is below `root` of an absolute path, with a slash before it; nullopt if it is elsewhere.
std::optional<std::string> Below(const std::string& root, const std::string& path) {
  if (root == "/") return path == "/" ? "" : path;
  if (!path.starts_with(root)) return std::nullopt;
  const std::string rest = path.substr(root.size());
  if (!rest.empty() && rest[0] != '/') return std::nullopt;
  return rest;
}

bool IsNameOfGroup(const std::string& name) {
  constexpr std::string_view kPrefix = "bayloom-";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         std::all_of(name.begin() + kPrefix.size(), name.end(),
                     [](unsigned char letter) { return std::isdigit(letter); });
}

}  // namespace

bool RemoveControlGroupIfDead(const std::string& path, int attempts) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (folder.number() < 0 || fstat(folder.number(), &status) != 0 || status.st_uid != geteuid()) {
    return false;
  }
  while (flock(folder.number(), LOCK_EX | LOCK_NB) != 0) {
    if (--attempts <= 0) return false;
    usleep(10'000);
  }
  BayloomEndControlGroup(path.c_str());
  return !fs::exists(path);
}

std::string ControlGroupFolder(std::string_view mounts, std::string_view groups) {
  const std::optional<std::string> own = OwnGroup(groups);
  // Outside the namespace's root, its folder cannot be named.
  if (!own || own->starts_with("/..")) return "";
  std::istringstream lines{std::string(mounts)};
  for (std::string line; std::getline(lines, line);) {
    // ID PARENT DEVICE ROOT PLACE OPTIONS [...] - TYPE SOURCE OPTIONS
    std::istringstream fields(line);
    std::string ignored, root, place, type;
    fields >> ignored >> ignored >> ignored >> root >> place;
    while (fields >> ignored && ignored != "-") {
    }
    if (!(fields >> type) || type != "cgroup2") continue;
    if (const auto below = Below(WithoutEscapes(root), *own)) return WithoutEscapes(place) + *below;
  }
  return "";
}

int RemoveDeadControlGroups(const std::string& parent) {
  int removed = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(parent, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (IsNameOfGroup(entry->path().filename().string()))
      removed += RemoveControlGroupIfDead(entry->path(), 1);
  }
  return removed;
}

const std::string& ControlGroupParent() {
  static const std::string parent = [] {
    std::string folder =
        ControlGroupFolder(ContentOf("/proc/self/mountinfo"), ContentOf("/proc/self/cgroup"));
    if (folder.empty() || access(folder.c_str(), W_OK) != 0) return std::string();
    RemoveDeadControlGroups(folder);
    return folder;
  }();
  return parent;
}

}  // namespace bayloom::base
