// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bayloom::yaml {

/// Where the files are that a template names: beside it, and in folders that it adds.
class TemplateFiles {
 public:
  /// `file`: the template's own.
  TemplateFiles(const std::string& file, std::vector<std::string> folders);

  /// The template's own, as an absolute path.
  const std::string& folder() const { return folder_; }
  const std::vector<std::string>& folders() const { return folders_; }

  /// All files of a pattern of the shell's, each once. Throws ExpressionError if there is none.
  std::vector<std::string> FindAll(std::string_view pattern) const;
  /// The first file of that name, or nothing.
  std::string FindFirst(std::string_view name) const;
  void AddFolders(std::string_view pattern);

 private:
  /// The path in each of the folders.
  std::vector<std::string> Candidates(std::string_view path) const;

  std::string folder_;
  std::vector<std::string> folders_;
};

}  // namespace bayloom::yaml
