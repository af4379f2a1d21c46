// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdint.h>

// What Subprocess and the guard of a child process (guard.c) say to each other. In C.
//
// The guard's arguments are: its name, the numbers of GuardOrder as text, then those of
// GuardArgument. Every variable of the child's environment is passed with
// kGuardPrefix before its name, so that none means anything to the guard's own loader.

enum { kGuardPrefix = '_' };

/// Arguments behind that of GuardOrder.
enum GuardArgument {
  kGuardDirectoryArgument,  ///< the child's directory; empty: the guard's own
  kGuardWritableArgument,   ///< the folder that a sandboxed child may write to; empty: none
  kGuardGroupsArgument,     ///< the control group below which the child's is made; empty: none is
  kGuardProgramArgument,    ///< the child's program, followed by its arguments
};

/// What the child is given. In this order in the guard's first argument.
#define BAYLOOM_GUARD_ORDER_FORMAT "%d %d %lld %lld %lld %d %d"
struct GuardOrder {
  int owner;   ///< process that the child must not outlive
  int report;  ///< descriptor for what the guard reports; those below it are the child's
  long long address_space_bytes;  ///< of each process; 0: no limit
  long long resident_bytes;       ///< of the child and its descendants together; 0: no limit
  long long open_files;           ///< soft limit of open files; 0: as it is
  int preferred_oom_victim;
  int sandbox;
};

/// What was being done for the child when it failed.
enum GuardStage {
  kGuardStarted,    ///< nothing failed: the program runs
  kGuardProcess,    ///< there is no process or descriptor for it
  kGuardGroup,      ///< its control group cannot be entered; never reported, it goes without
  kGuardSandbox,    ///< it cannot be isolated
  kGuardDirectory,  ///< its directory cannot be entered
  kGuardProgram,    ///< its program cannot be executed
};

/// The first report: that the child runs, or why not.
struct GuardStart {
  int32_t stage;
  int32_t error;  ///< errno
  int32_t child;
};

/// The last report, once the child and all its descendants are gone.
struct GuardEnd {
  int32_t status;  ///< of the child, as of waitpid
  int32_t exceeded_memory;
};
