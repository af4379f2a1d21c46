#pragma once

#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "bayloom/base/subprocess.h"

namespace bayloom {

/// A program to be run for its output.
struct ProgramCall {
  std::vector<std::string> arguments;
  std::string input;                     ///< for its standard input
  std::string directory;                 ///< it runs in; empty: this process's
  std::vector<std::string> environment;  ///< "NAME=value", added to this process's
  double timeout = std::numeric_limits<double>::infinity();  ///< seconds
  int64_t memory_limit_bytes = 0;                            ///< of address space; 0: none
};

/// How a program's run ended.
struct ProgramRun {
  enum class End : uint8_t {
    kExited,      ///< by itself or by a signal: see `status`
    kNotStarted,  ///< `problem` says why
    kTimedOut,    ///< killed
    kStopped,     ///< killed because the caller was asked to stop
  };
  End end = End::kExited;
  ExitStatus status;
  std::string problem;
  std::string output;  ///< the last MiB of standard output
  std::string errors;  ///< the last 4 KiB of standard error
};

/// Runs the program to its end. When it has ended, everything it left running in its process
/// group is killed, too.
ProgramRun RunProgram(const ProgramCall& call, const std::stop_token& stop);

/// The last line with something in it, fit for a message.
std::string LastWords(const std::string& text);

}  // namespace bayloom
