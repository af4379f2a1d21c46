// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/template/files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/yaml/template/expression.h"

namespace bayloom::yaml {
namespace {

namespace fs = std::filesystem;

/// Folders of a pattern that have wildcards, each of which may multiply what is looked through.
constexpr int kMaxWildcardFolders = 2;

/// Whether reading it ends: devices and pipes may have no end.
bool IsFileOrFolder(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) || fs::is_directory(path, ignored);
}

void CheckWildcards(const std::string& pattern) {
  const fs::path folder = fs::path(pattern).parent_path();
  const auto wild = std::count_if(folder.begin(), folder.end(), [](const fs::path& part) {
    return part.native().find_first_of("*?[") != std::string::npos;
  });
  if (wild > kMaxWildcardFolders) {
    throw ExpressionError(fmt::format("more than {} folders of '{}' have wildcards",
                                      kMaxWildcardFolders,
                                      base::SingleLine(pattern, base::kMaxPathBytes)));
  }
}

/// The files and folders that a pattern of the shell's matches, in alphabetical order.
std::vector<std::string> Matches(const std::string& pattern) {
  CheckWildcards(pattern);
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::erase_if(paths, [](const std::string& path) { return !IsFileOrFolder(path); });
  return paths;
}

}  // namespace

TemplateFiles::TemplateFiles(const std::string& file, std::vector<std::string> folders)
    : folder_(fs::absolute(file).lexically_normal().parent_path().string()),
      folders_(std::move(folders)) {}

std::vector<std::string> TemplateFiles::Candidates(std::string_view path) const {
  if (fs::path(path).is_absolute()) return {fs::path(path).lexically_normal().string()};
  std::vector<std::string> candidates = {(fs::path(folder_) / path).lexically_normal().string()};
  for (const std::string& folder : folders_) {
    candidates.push_back((fs::path(folder) / path).lexically_normal().string());
  }
  return candidates;
}

std::vector<std::string> TemplateFiles::FindAll(std::string_view pattern) const {
  std::vector<std::string> paths;
  for (const std::string& candidate : Candidates(pattern)) {
    for (std::string& path : Matches(candidate)) {
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
    }
  }
  if (!paths.empty()) return paths;
  throw ExpressionError(fmt::format("there is no file '{}' in {}",
                                    base::SingleLine(pattern, base::kMaxPathBytes),
                                    base::SingleLine(folder_, base::kMaxPathBytes)));
}

std::string TemplateFiles::FindFirst(std::string_view name) const {
  for (const std::string& candidate : Candidates(name)) {
    if (IsFileOrFolder(candidate)) return candidate;
  }
  return "";
}

void TemplateFiles::AddFolders(std::string_view pattern) {
  for (std::string& path : FindAll(pattern)) folders_.push_back(std::move(path));
}

}  // namespace bayloom::yaml
