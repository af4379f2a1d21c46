// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What programs built on this system call of its C library and version 2.28 has not, made of
// what 2.28 has: for BAYLOOM_PORTABLE, which links against the older library. Each function begins
// with the version that brought it. They are hidden symbols of the program or extension module that
// they are linked into.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// 2.34: the library runs a program's constructors. Until then a function of the program does, which
// every version calls when it is told of one.
typedef int MainFunction(int, char**, char**);
typedef void Constructor(int, char**, char**);
extern Constructor* const __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* const __init_array_end[] __attribute__((visibility("hidden")));
int __real___libc_start_main(MainFunction* main, int argc, char** argv, Constructor* initialize,
                             void (*finish)(void), void (*finish_loader)(void), void* stack_end);
int __wrap___libc_start_main(MainFunction* main, int argc, char** argv, Constructor* initialize,
                             void (*finish)(void), void (*finish_loader)(void), void* stack_end);

static void RunConstructors(int argc, char** argv, char** environment) {
  for (Constructor* const* next = __init_array_start; next != __init_array_end; ++next) {
    (*next)(argc, argv, environment);
  }
}

int __wrap___libc_start_main(MainFunction* main, int argc, char** argv, Constructor* initialize,
                             void (*finish)(void), void (*finish_loader)(void), void* stack_end) {
  (void)initialize;  // null
  return __real___libc_start_main(main, argc, argv, RunConstructors, finish, finish_loader,
                                  stack_end);
}

// 2.33: before, <sys/stat.h> made these of functions that are told the layout of their result.
// Results for files of any size have the same layout.
int __fxstat(int version, int file, struct stat* result);
int __fxstatat(int version, int folder, const char* path, struct stat* result, int flags);
int __xmknod(int version, const char* path, mode_t mode, dev_t* device);
#ifdef __x86_64__
enum { kStatVersion = 1 };
#else
enum { kStatVersion = 0 };
#endif

int stat(const char* path, struct stat* result) {
  return __fxstatat(kStatVersion, AT_FDCWD, path, result, 0);
}
int lstat(const char* path, struct stat* result) {
  return __fxstatat(kStatVersion, AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* result) { return __fxstat(kStatVersion, file, result); }
int fstatat(int folder, const char* path, struct stat* result, int flags) {
  return __fxstatat(kStatVersion, folder, path, result, flags);
}
int stat64(const char* path, struct stat64* result) { return stat(path, (struct stat*)result); }
int lstat64(const char* path, struct stat64* result) { return lstat(path, (struct stat*)result); }
int fstat64(int file, struct stat64* result) { return fstat(file, (struct stat*)result); }
int fstatat64(int folder, const char* path, struct stat64* result, int flags) {
  return fstatat(folder, path, (struct stat*)result, flags);
}
int mknod(const char* path, mode_t mode, dev_t device) { return __xmknod(0, path, mode, &device); }

// 2.36
void arc4random_buf(void* result, size_t size) {
  for (size_t filled = 0; filled < size;) {
    const ssize_t got = getrandom((char*)result + filled, size - filled, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got > 0) filled += (size_t)got;
  }
}
uint32_t arc4random(void) {
  uint32_t result;
  arc4random_buf(&result, sizeof result);
  return result;
}

// 2.33
struct mallinfo2 mallinfo2(void) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo m = mallinfo();
#pragma GCC diagnostic pop
  return (struct mallinfo2){.arena = (unsigned)m.arena,
                            .ordblks = (unsigned)m.ordblks,
                            .smblks = (unsigned)m.smblks,
                            .hblks = (unsigned)m.hblks,
                            .hblkhd = (unsigned)m.hblkhd,
                            .usmblks = (unsigned)m.usmblks,
                            .fsmblks = (unsigned)m.fsmblks,
                            .uordblks = (unsigned)m.uordblks,
                            .fordblks = (unsigned)m.fordblks,
                            .keepcost = (unsigned)m.keepcost};
}

// 2.32
const char* sigabbrev_np(int signal) {
#define NAME(SIGNAL) [SIG##SIGNAL] = #SIGNAL
  static const char* const names[] = {
      NAME(HUP),   NAME(INT),    NAME(QUIT), NAME(ILL),  NAME(TRAP), NAME(ABRT), NAME(BUS),
      NAME(FPE),   NAME(KILL),   NAME(USR1), NAME(SEGV), NAME(USR2), NAME(PIPE), NAME(ALRM),
      NAME(TERM),  NAME(STKFLT), NAME(CHLD), NAME(CONT), NAME(STOP), NAME(TSTP), NAME(TTIN),
      NAME(TTOU),  NAME(URG),    NAME(XCPU), NAME(XFSZ), NAME(PROF), NAME(POLL), NAME(VTALRM),
      NAME(WINCH), NAME(PWR),    NAME(SYS)};
#undef NAME
  const int count = sizeof names / sizeof names[0];
  return signal > 0 && signal < count ? names[signal] : NULL;
}

// 2.32: what may be left out while there is one thread. False is always right.
char __libc_single_threaded = 0;

// 2.30
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// 2.30: the library's own where it has one. Else the wait is for the same time by the clock that
// conditions have, which may be set meanwhile: then it ends without a signal, as waits may, or
// late.
static int64_t Nanoseconds(struct timespec t) { return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec; }

static int64_t Now(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return Nanoseconds(now);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int Wait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static _Atomic(uintptr_t) known = 1;  // 1: not looked for yet
  uintptr_t newer = known;
  if (newer == 1) known = newer = (uintptr_t)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (newer != 0) return ((Wait*)newer)(condition, mutex, clock, until);

  const int64_t then = Now(CLOCK_REALTIME) + Nanoseconds(*until) - Now(clock);
  const struct timespec end = {.tv_sec = then / 1000000000, .tv_nsec = then % 1000000000};
  const int result = pthread_cond_timedwait(condition, mutex, &end);
  return result == ETIMEDOUT && Now(clock) < Nanoseconds(*until) ? 0 : result;
}

// 2.35: where the object with `address` is, and its table for unwinding.
struct Search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int LookInto(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  const struct Search* search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0, table = 0;
  int holds_address = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    const uintptr_t first = info->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
    if (segment->p_type == PT_GNU_EH_FRAME) table = first;
    if (segment->p_type != PT_LOAD) continue;
    if (first < begin) begin = first;
    if (last > end) end = last;
    holds_address |= first <= search->address && search->address < last;
  }
  if (!holds_address || table == 0) return 0;
  *search->result = (struct dl_find_object){
      .dlfo_map_start = (void*)begin, .dlfo_map_end = (void*)end, .dlfo_eh_frame = (void*)table};
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct Search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(LookInto, &search) == 1 ? 0 : -1;
}
