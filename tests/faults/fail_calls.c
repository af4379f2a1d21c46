// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// To be preloaded (LD_PRELOAD): makes calls of the C library fail as a machine in trouble does.
//
//   BAYLOOM_FAIL="posix_spawn 3 2 11"    calls 3 and 4 of posix_spawn fail with errno 11
//   BAYLOOM_FAIL="clock 100 1 -86400"    from the 100th reading on, the wall clock is a day behind
//
// Processes that the program starts are not affected.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static char failing_call[32];
static long first, count, failure;
static atomic_long calls;

__attribute__((constructor)) static void ReadOrder(void) {
  const char* const order = getenv("BAYLOOM_FAIL");
  if (order == NULL ||
      sscanf(order, "%31s %ld %ld %ld", failing_call, &first, &count, &failure) != 4) {
    failing_call[0] = '\0';
  }
  unsetenv("LD_PRELOAD");
}

/// Whether this call is one of those that fail; sets errno.
static int Fails(const char* call) {
  if (strcmp(call, failing_call) != 0) return 0;
  const long number = ++calls;
  if (number < first || number >= first + count) return 0;
  errno = (int)failure;
  return 1;
}

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

int posix_spawn(pid_t* restrict pid, const char* restrict path,
                const posix_spawn_file_actions_t* restrict actions,
                const posix_spawnattr_t* restrict attributes, char* const argv[restrict],
                char* const envp[restrict]) {
  if (Fails("posix_spawn")) return errno;
  return NEXT(posix_spawn)(pid, path, actions, attributes, argv, envp);
}

pid_t fork(void) { return Fails("fork") ? -1 : NEXT(fork)(); }

int pipe2(int ends[2], int flags) { return Fails("pipe2") ? -1 : NEXT(pipe2)(ends, flags); }

char* mkdtemp(char* path) { return Fails("mkdtemp") ? NULL : NEXT(mkdtemp)(path); }

int memfd_create(const char* name, unsigned flags);
int memfd_create(const char* name, unsigned flags) {
  return Fails("memfd_create") ? -1 : NEXT(memfd_create)(name, flags);
}

ssize_t write(int file, const void* data, size_t bytes) {
  return Fails("write") ? -1 : NEXT(write)(file, data, bytes);
}

ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t offset) {
  return Fails("pwrite64") ? -1 : NEXT(pwrite64)(file, data, bytes, offset);
}

int fsync(int file) { return Fails("fsync") ? -1 : NEXT(fsync)(file); }

int fdatasync(int file) { return Fails("fdatasync") ? -1 : NEXT(fdatasync)(file); }

static int OpenWith(int (*next)(const char*, int, ...), const char* path, int flags, va_list rest) {
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  return Fails("open") ? -1 : next(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int file = OpenWith(NEXT(open), path, flags, rest);
  va_end(rest);
  return file;
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int file = OpenWith(NEXT(open64), path, flags, rest);
  va_end(rest);
  return file;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = NEXT(clock_gettime)(clock, now);
  if (clock == CLOCK_REALTIME && strcmp("clock", failing_call) == 0 && ++calls >= first) {
    now->tv_sec += failure;
  }
  return result;
}

/// The C++ library's `operator new` uses it.
void* malloc(size_t bytes) {
  static void* (*next)(size_t);
  if (next == NULL) next = NEXT(malloc);
  return Fails("malloc") ? NULL : next(bytes);
}
