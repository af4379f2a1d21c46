// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/control_group.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bayloom/base/write_text.h"

/// The path of one of the group's files; the empty path if it were too long.
static const char* FileOf(const char* group, const char* name, char path[kControlGroupPathSize]) {
  const int length = snprintf(path, kControlGroupPathSize, "%s/%s", group, name);
  if (length < 0 || length >= kControlGroupPathSize) *path = '\0';
  return path;
}

static int WriteTo(const char* group, const char* name, const char* text) {
  char path[kControlGroupPathSize];
  return WriteText(FileOf(group, name, path), text);
}

void BayloomControlGroupPath(const char* parent, int guard, char path[kControlGroupPathSize]) {
  *path = '\0';
  if (*parent == '\0') return;
  const int length = snprintf(path, kControlGroupPathSize, "%s/bayloom-%d", parent, guard);
  if (length < 0 || length >= kControlGroupPathSize) *path = '\0';
}

/// The folder, locked, or -1 if it is not there or another process's.
static int Lock(const char* path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  if (flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  close(folder);
  return -1;
}

/// Creates the folder; one that a dead guard of the same number has left is removed before.
static int CreateFolder(const char* path) {
  if (mkdir(path, 0755) == 0) return 0;
  if (errno != EEXIST) return -1;
  const int left = Lock(path);
  if (left < 0) return -1;
  BayloomEndControlGroup(path);
  close(left);
  return mkdir(path, 0755);
}

struct BayloomControlGroup BayloomMakeControlGroup(const char* parent, int guard) {
  struct BayloomControlGroup group;
  BayloomControlGroupPath(parent, guard, group.path);
  group.lock = -1;
  // Before it is locked, another process may take it for a dead guard's and remove it.
  for (int attempts = 0; *group.path != '\0' && attempts < 4; ++attempts) {
    if (CreateFolder(group.path) != 0) continue;
    group.lock = Lock(group.path);
    char path[kControlGroupPathSize];
    if (group.lock >= 0 && access(FileOf(group.path, "cgroup.kill", path), W_OK) == 0) return group;
    rmdir(group.path);
    if (group.lock >= 0) close(group.lock);
    group.lock = -1;
  }
  *group.path = '\0';
  return group;
}

int BayloomEnterControlGroup(const char* path) { return WriteTo(path, "cgroup.procs", "0"); }

int BayloomLimitControlGroupMemory(const char* path, long long bytes) {
  char text[32];
  snprintf(text, sizeof(text), "%lld", bytes);
  if (WriteTo(path, "memory.oom.group", "1") != 0) return -1;
  WriteTo(path, "memory.swap.max", "0");  // not there without swap accounting
  return WriteTo(path, "memory.max", text);
}

int BayloomControlGroupExceededMemory(const char* path) {
  // The local events are those of this limit, not of one within, or of the system.
  char events_path[kControlGroupPathSize];
  FILE* const events = fopen(FileOf(path, "memory.events.local", events_path), "re");
  if (events == NULL) return 0;
  char name[32];
  long long count = 0;
  int exceeded = 0;
  while (fscanf(events, "%31s %lld", name, &count) == 2) {
    if (strcmp(name, "oom") == 0) exceeded = count > 0;
  }
  fclose(events);
  return exceeded;
}

static int RemoveFolder(const char* path, const struct stat* status, int type, struct FTW* place) {
  (void)status;
  (void)place;
  if (type == FTW_DP) rmdir(path);
  return 0;
}

void BayloomEndControlGroup(const char* path) {
  if (*path == '\0') return;
  WriteTo(path, "cgroup.kill", "1");
  // What was killed takes a moment to go; until then it cannot be removed.
  for (long pause = 1; rmdir(path) != 0 && errno == EBUSY && pause <= 512; pause *= 2) {
    const struct timespec time = {0, pause * 1000000};
    nanosleep(&time, NULL);
    nftw(path, RemoveFolder, 8, FTW_DEPTH | FTW_PHYS);
  }
}
