// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/next_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/base/shell_text.h"

namespace bayloom::cli {
namespace {

/// Longer commands do not push the purposes of the others aside.
constexpr size_t kMaxAligned = 60;

}  // namespace

void NextCommands::Add(const std::vector<std::string>& arguments, std::string purpose) {
  std::string line = "bayloom";
  for (const std::string& argument : arguments) line += " " + base::QuotedForDisplay(argument);
  commands_.emplace_back(std::move(line), std::move(purpose));
}

std::string NextCommands::Text() const {
  if (commands_.empty()) return "";
  size_t width = 0;
  for (const auto& [command, purpose] : commands_) {
    if (command.size() <= kMaxAligned) width = std::max(width, command.size());
  }
  std::string text = "\nNext:\n";
  for (const auto& [command, purpose] : commands_) {
    text += fmt::format("  {:<{}}  # {}\n", command, width, purpose);
  }
  return text;
}

}  // namespace bayloom::cli
