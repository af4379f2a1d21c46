// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/emulator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <fstream>
#include <optional>

namespace bayloom::base {
namespace {

/// Where a link of /proc leads; empty where that cannot be seen.
std::string LinkTarget(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  target.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return target;
}

std::vector<std::string> CommandLine(const std::string& path) {
  std::vector<std::string> arguments;
  std::ifstream file(path);
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

std::optional<Emulator> FindEmulator() {
  // Emulators answer for /proc/self; what the kernel says of a thread they leave as it is.
  const std::string thread = fmt::format("/proc/self/task/{}/", gettid());
  const std::string emulator = LinkTarget(thread + "exe");
  Emulator found;
  found.program = LinkTarget("/proc/self/exe");
  if (emulator.empty() || found.program.empty() || emulator == found.program) return std::nullopt;
  if (access(emulator.c_str(), X_OK) != 0) return found;
  found.command = CommandLine(thread + "cmdline");
  const size_t own = CommandLine("/proc/self/cmdline").size();
  found.command.resize(found.command.size() > own ? found.command.size() - own : 1);
  found.command.front() = emulator;
  // Where the system starts it, the program's path may be there beside its arguments.
  if (found.command.size() > 1 && found.command.back() == found.program) found.command.pop_back();
  return found;
}

}  // namespace

const Emulator* EmulatorOfThisProcess() {
  static const std::optional<Emulator> emulator = FindEmulator();
  return emulator ? &*emulator : nullptr;
}

}  // namespace bayloom::base
