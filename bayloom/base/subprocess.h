// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/descriptor.h"
#include "bayloom/base/result.h"

namespace bayloom::base {

/// How a process ended.
struct ExitStatus {
  bool signaled = false;
  int code = 0;                  ///< the signal's number if `signaled`, else the exit code
  bool exceeded_memory = false;  ///< it was killed for using more than `resident_limit_bytes`

  bool Success() const { return !signaled && code == 0; }
  /// "exit code 3", "signal 11 (SIGSEGV)".
  std::string Describe() const;
};

/// What a child may do in a sandbox: read files, compute, and write to one folder. It has no
/// network (not even this machine's), cannot write to any other file, and has the rights of this
/// user otherwise: it sees what this user sees, and this user's processes.
struct Sandbox {
  std::string writable_folder;  ///< empty: none
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
  /// Bytes of address space that the child and each of its descendants may map (RLIMIT_AS), or
  /// the hard limit of this process where that is lower; 0 sets no limit.
  int64_t memory_limit_bytes = 0;
  /// Bytes of memory that the child and its descendants may use together, what several share
  /// counted once; looked at 20 times a second, or by their control group. 0: no limit.
  int64_t resident_limit_bytes = 0;
  /// Where the child runs; empty: where this process does.
  std::string directory;
  /// Variables as "NAME=value", added to this process's environment.
  std::vector<std::string> environment;
  /// Marks the child as the one to be killed first when the system runs out of memory.
  bool preferred_oom_victim = false;
  std::optional<Sandbox> sandbox;
};

/// A running child process, in a process group of its own (a Ctrl-C at the terminal does not reach
/// it). It writes no core file. When it ends, or this process does in any way, all that it has
/// started is killed as well, in other sessions and process groups, too. The destructor kills it.
///
/// Between this process and the child there is a guard, a small process that does so, to the child
/// its parent; where control groups (cgroup v2) may be created, even a killed guard leaves nothing.
class Subprocess {
 public:
  /// Fails when the program cannot be run or isolated, saying which and why. Throws SystemError
  /// when there can be no further process or descriptor.
  static Result<Subprocess> Start(const SubprocessOptions& options);

  Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  /// The child's, not its guard's.
  pid_t pid() const { return pid_; }
  /// This end of a stream opened as kPipe, else -1. Owned here.
  int input() const { return pipes_[0].number(); }
  int output() const { return pipes_[1].number(); }
  int error() const { return pipes_[2].number(); }
  /// Says end-of-file to a child that reads its piped input.
  void CloseInput();

  /// Waits at most this long (for ever if negative) for the end; nullopt if it still runs.
  std::optional<ExitStatus> Wait(double seconds = -1);
  /// Kills the child with all that it has started and waits for their end. The status tells how it
  /// ended, which may have been before and in another way.
  ExitStatus Kill();

 private:
  Subprocess() = default;
  /// The end, once there is something to be read of it.
  ExitStatus ReadEnd();

  pid_t pid_ = -1;
  pid_t guard_ = -1;
  Descriptor report_;  ///< what the guard reports
  Descriptor pipes_[3];
  std::optional<ExitStatus> ended_;
};

/// Refuses sandboxes where the kernel, or its administrator, does not allow them, with the reason.
Status CheckSandbox();

}  // namespace bayloom::base
