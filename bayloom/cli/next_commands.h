// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bayloom::cli {

/// Commands that a person may want to type after this one, each with its purpose.
class NextCommands {
 public:
  /// `arguments` follow the program's name.
  void Add(const std::vector<std::string>& arguments, std::string purpose);
  /// A line each, to be copied into a shell as they are; empty if there are none.
  std::string Text() const;

 private:
  std::vector<std::pair<std::string, std::string>> commands_;
};

}  // namespace bayloom::cli
