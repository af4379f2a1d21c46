// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/result.h"

namespace bayloom::base {

/// How a process ended.
struct ExitStatus {
  bool signaled = false;
  int code = 0;  ///< the signal's number if `signaled`, else the exit code

  bool Success() const { return !signaled && code == 0; }
  /// "exit code 3", "signal 11 (SIGSEGV)".
  std::string Describe() const;
};

/// Where a standard stream of a child process leads.
enum class ChildStream : uint8_t { kInherit, kNull, kPipe };

struct SubprocessOptions {
  /// The program and its arguments; a program without a slash is looked up in PATH.
  std::vector<std::string> arguments;
  ChildStream standard_input = ChildStream::kInherit;
  ChildStream standard_output = ChildStream::kInherit;
  ChildStream standard_error = ChildStream::kInherit;
  /// Descriptors of this process that the child gets: the i-th becomes descriptor 3 + i there.
  /// No other descriptor above 2 is passed on as long as all are opened close-on-exec.
  std::vector<int> descriptors;
  /// Bytes of address space the child may map (RLIMIT_AS); 0 sets no limit.
  int64_t memory_limit_bytes = 0;
  /// Where the child runs; empty: where this process does.
  std::string directory;
  /// Variables as "NAME=value", added to this process's environment.
  std::vector<std::string> environment;
  /// Marks the child as the one to be killed first when the system runs out of memory.
  bool preferred_oom_victim = false;
};

/// A running child process, in a process group of its own (a Ctrl-C at the terminal does not reach
/// it). It writes no core file. The destructor kills the group and reaps the child.
class Subprocess {
 public:
  /// Fails when the program cannot be run, saying which and why. Throws SystemError when there can
  /// be no further process or descriptor.
  static Result<Subprocess> Start(const SubprocessOptions& options);

  Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  pid_t pid() const { return pid_; }
  /// This end of a stream opened as kPipe, else -1. Owned here.
  int input() const { return pipes_[0]; }
  int output() const { return pipes_[1]; }
  int error() const { return pipes_[2]; }
  /// Says end-of-file to a child that reads its piped input.
  void CloseInput();

  /// Waits at most this long (for ever if negative) for the end; nullopt if it still runs.
  std::optional<ExitStatus> Wait(double seconds = -1);
  /// Kills the whole process group and waits for the child's end. The status tells how it ended,
  /// which may have been before and in another way.
  ExitStatus Kill();
  /// After the child's end: kills what it left running in its process group.
  void KillLeftovers();

 private:
  Subprocess() = default;
  void ClosePipes();

  pid_t pid_ = -1;
  int process_descriptor_ = -1;  ///< pidfd: becomes readable at the end
  int pipes_[3] = {-1, -1, -1};
  std::optional<ExitStatus> ended_;
};

}  // namespace bayloom::base
