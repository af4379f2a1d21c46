// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The control group (cgroup v2) of one guarded child: the folder `bayloom-PID` named after its
// guard, below the group of the guard's owner. All that the child starts is in it, so that all of
// it can be killed at once, also by the owner after the guard was killed. In C, for both.

#ifdef __cplusplus
extern "C" {
#endif

enum { kControlGroupPathSize = 4096 };

struct BayloomControlGroup {
  char path[kControlGroupPathSize];  ///< empty: there is none
  int lock;  ///< descriptor that locks the folder as long as the guard lives; -1 without a group
};

/// Writes the path that the group of this guard has below `parent`; the empty path if `parent` is
/// empty or the path too long.
void BayloomControlGroupPath(const char* parent, int guard, char path[kControlGroupPathSize]);

/// Creates and locks the group of the process `guard` below `parent`. There is none where nothing
/// may be created, another process has it, or the kernel (before 5.14) cannot kill a group.
struct BayloomControlGroup BayloomMakeControlGroup(const char* parent, int guard);

/// Moves the calling process into the group. 0, or -1 with errno.
int BayloomEnterControlGroup(const char* path);

/// Limits the memory that all processes of the group use together, in bytes; if they need more, all
/// are killed. 0, or -1 where the group has no memory controller.
int BayloomLimitControlGroupMemory(const char* path, long long bytes);

/// Whether that has happened.
int BayloomControlGroupExceededMemory(const char* path);

/// Kills all processes of the group and of groups below it, in all sessions and namespaces, and
/// removes the groups. Waits for this a second at most. An empty path is fine.
void BayloomEndControlGroup(const char* path);

#ifdef __cplusplus
}
#endif
