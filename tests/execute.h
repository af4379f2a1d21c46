// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/run_command.h"

namespace bayloom {

/// Runs a command, in a folder if one is named.
inline base::CommandResult Execute(std::vector<std::string> arguments,
                                   const std::string& folder = "") {
  base::Command command;
  command.arguments = std::move(arguments);
  command.directory = folder;
  return base::RunCommand(command);
}

/// How it ended, and all that it wrote.
inline std::string Describe(const base::CommandResult& result) {
  return result.start_error + result.status.Describe() + " " + result.output + result.error_output;
}

inline bool Succeeded(const base::CommandResult& result) {
  return result.end == base::CommandResult::End::kExited && result.status.Success();
}

/// What of the cross compiler and the emulator for AArch64 is missing; empty: nothing.
inline std::string MissingForAArch64() {
  const std::pair<const char*, const char*> needed[] = {
      {"qemu-aarch64", "qemu-user"}, {"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"}};
  for (const auto& [program, package] : needed) {
    if (Succeeded(Execute({program, "--version"}))) continue;
    return std::string(program) + " (Debian package " + package + ") is not installed";
  }
  return "";
}

}  // namespace bayloom
