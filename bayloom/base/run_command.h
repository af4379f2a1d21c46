// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/subprocess.h"

namespace bayloom::base {

/// A program to be run for its output.
struct Command {
  std::vector<std::string> arguments;    ///< the program first; looked up in PATH without a slash
  std::string input;                     ///< for its standard input
  std::string directory;                 ///< where it runs; empty: where this process does
  std::vector<std::string> environment;  ///< "NAME=value", added to this process's
  double timeout_seconds = std::numeric_limits<double>::infinity();
  /// Of the address space of each of its processes, and of the memory that all of them use
  /// together; 0: none.
  int64_t memory_limit_bytes = 0;
  std::optional<Sandbox> sandbox;
};

/// How a command ended, and what it wrote.
struct CommandResult {
  enum class End : uint8_t {
    kExited,      ///< by itself or by a signal: see `status`
    kNotStarted,  ///< `start_error` says why
    kTimedOut,    ///< killed after `timeout_seconds`
    kStopped,     ///< killed because the caller was asked to stop
    kMemory,      ///< killed because its processes together used more than `memory_limit_bytes`
  };
  End end = End::kExited;
  ExitStatus status;
  std::string start_error;
  std::string output;        ///< the last MiB of standard output
  std::string error_output;  ///< the last 4 KiB of standard error
};

/// Runs the command to its end, or until the timeout or the request to stop, which is seen within
/// 50 ms. In every case all that it has started is then killed (see Subprocess). Throws SystemError
/// when no process can be created, and when the system killed it because memory ran out.
CommandResult RunCommand(const Command& command, const std::stop_token& stop = {});

/// The last line that is not blank, fit for a message.
std::string LastLine(std::string_view text);

}  // namespace bayloom::base
