// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The guard of a child process: a small program between Subprocess and the program that it starts.
// It lives as long as the child does and sees to it that nothing of the child survives: neither the
// child's end, nor a request to end it (SIGTERM), nor the death of the process that wanted it, even
// by SIGKILL. As the reaper of its descendants it also finds those that left the child's session or
// process group; where it may, it gives the child a control group, by which its owner finds them
// even after the guard itself was killed. See guard_protocol.h for what it is told and reports.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bayloom/base/control_group.h"
#include "bayloom/base/guard_protocol.h"
#include "bayloom/base/write_text.h"

/// How often the memory of a limited tree is summed up, in milliseconds.
enum { kMemoryInterval = 50 };

static void Pause(long milliseconds) {
  const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

// ---- What the child does before it becomes its program -----------------------------------------

static void LimitAddressSpace(long long bytes) {
  struct rlimit limit;
  if (bytes <= 0 || getrlimit(RLIMIT_AS, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY || (rlim_t)bytes < limit.rlim_max)
    limit.rlim_max = (rlim_t)bytes;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
}

static void SetOpenFiles(long long count) {
  struct rlimit limit;
  if (count <= 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if ((rlim_t)count < limit.rlim_max) limit.rlim_cur = (rlim_t)count;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Within the user namespace, the user is who they were.
static int MapIdentity(const char* path, unsigned id) {
  char line[64];
  snprintf(line, sizeof(line), "%u %u 1", id, id);
  return WriteText(path, line);
}

static int SetReadOnly(const char* path, unsigned flags, int is_read_only) {
  struct mount_attr attributes = {0};
  if (is_read_only) {
    attributes.attr_set = MOUNT_ATTR_RDONLY;
  } else {
    attributes.attr_clr = MOUNT_ATTR_RDONLY;
  }
  return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attributes, sizeof(attributes));
}

/// No network, no file system that can be written to but `writable` and a /dev/shm of its own, and
/// no capability to undo that.
static int EnterSandbox(const char* writable) {
  const unsigned user = getuid(), group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) return -1;
  WriteText("/proc/self/setgroups", "deny");
  if (MapIdentity("/proc/self/uid_map", user) != 0) return -1;
  if (MapIdentity("/proc/self/gid_map", group) != 0) return -1;
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -1;
  const int has_folder = *writable != '\0';
  if (has_folder && mount(writable, writable, NULL, MS_BIND, NULL) != 0) return -1;
  if (SetReadOnly("/", AT_RECURSIVE, 1) != 0) return -1;
  if (has_folder && SetReadOnly(writable, 0, 0) != 0) return -1;
  // Programs with several processes may need it; it is theirs alone.
  if (strncmp(writable, "/dev/shm/", 9) != 0) {
    mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "size=256m");
  }
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int EnterDirectory(const char* directory, int is_sandboxed) {
  if (*directory != '\0') return chdir(directory);
  if (!is_sandboxed) return 0;
  // The directory it stands in is that of the mounts of before.
  char* const here = getcwd(NULL, 0);
  if (here == NULL) return -1;
  const int entered = chdir(here);
  free(here);
  return entered;
}

/// Returns what failed; does not return if nothing did.
static struct GuardStart BecomeProgram(const struct GuardOrder* order, char** arguments,
                                       const char* group, pid_t guard) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the guard has one thread, so it is the guard's death
  if (getppid() != guard) _exit(127);
  struct GuardStart failed = {kGuardGroup, 0, 0};
  if (*group != '\0' && BayloomEnterControlGroup(group) != 0) {
    failed.error = errno;
    return failed;
  }
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  LimitAddressSpace(order->address_space_bytes);
  SetOpenFiles(order->open_files);
  if (order->preferred_oom_victim) WriteText("/proc/self/oom_score_adj", "1000");
  // From within a sandbox, what another process runs cannot be looked up any more.
  char opened[64];
  const char* program = arguments[kGuardProgramArgument];
  if (order->sandbox && strncmp(program, "/proc/", 6) == 0) {
    snprintf(opened, sizeof(opened), "/proc/self/fd/%d", open(program, O_PATH | O_CLOEXEC));
    program = opened;
  }
  failed.stage = kGuardSandbox;
  if (!order->sandbox || EnterSandbox(arguments[kGuardWritableArgument]) == 0) {
    failed.stage = kGuardDirectory;
    if (EnterDirectory(arguments[kGuardDirectoryArgument], order->sandbox) == 0) {
      failed.stage = kGuardProgram;
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, NULL);
      execvp(program, arguments + kGuardProgramArgument);
    }
  }
  failed.error = errno;
  return failed;
}

/// `group`: what the child enters; empty: none.
static struct GuardStart StartChild(const struct GuardOrder* order, char** arguments,
                                    const char* group) {
  struct GuardStart start = {kGuardProcess, 0, 0};
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) {
    start.error = errno;
    return start;
  }
  const pid_t guard = getpid();
  start.child = fork();
  if (start.child == 0) {
    const struct GuardStart failed = BecomeProgram(order, arguments, group, guard);
    if (write(failure[1], &failed, sizeof(failed)) < 0) _exit(126);
    _exit(127);
  }
  if (start.child < 0) start.error = errno;
  close(failure[1]);
  struct GuardStart failed;
  ssize_t bytes = 0;
  if (start.child > 0) {
    setpgid(start.child, start.child);  // either may be first
    bytes = read(failure[0], &failed, sizeof(failed));
    start.stage = kGuardStarted;
  }
  close(failure[0]);
  return bytes == (ssize_t)sizeof(failed) ? failed : start;
}

// ---- Its descendants ---------------------------------------------------------------------------

/// Calls `visit` for every child of every thread of a process.
static void ForEachChild(pid_t process, void (*visit)(pid_t child, void* data), void* data) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/task", process);
  DIR* const threads = opendir(path);
  if (threads == NULL) return;
  for (struct dirent* thread; (thread = readdir(threads)) != NULL;) {
    if (thread->d_name[0] == '.') continue;
    char children_path[384];
    snprintf(children_path, sizeof(children_path), "%s/%s/children", path, thread->d_name);
    FILE* const children = fopen(children_path, "re");
    if (children == NULL) continue;
    for (int child; fscanf(children, "%d", &child) == 1;) visit(child, data);
    fclose(children);
  }
  closedir(threads);
}

static void KillVisited(pid_t child, void* data) {
  ++*(int*)data;
  kill(child, SIGKILL);
}

/// Kills and reaps everything below this process. What a killed process leaves behind becomes a
/// child of this one, so that the children alone need be looked at, until there are none. Returns
/// the status of `child` if that was among them, else `status`.
static int KillDescendants(pid_t child, int status) {
  for (long pause = 1;;) {
    int killed = 0, ended = 0;
    ForEachChild(getpid(), KillVisited, &killed);
    const pid_t reaped = waitpid(-1, &ended, WNOHANG);
    if (reaped == child) status = ended;
    if (reaped > 0) continue;
    if (reaped < 0 && errno == ECHILD) return status;
    if (killed == 0) kill(-child, SIGKILL);  // /proc does not list children here
    Pause(pause);
    if (pause < 16) pause *= 2;
  }
}

/// The resident memory of a tree of processes; exact: what several share is counted once.
struct TreeMemory {
  long long bytes;
  int is_exact;
};

static long long ResidentBytes(pid_t process) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/statm", process);
  FILE* const file = fopen(path, "re");
  long long pages = 0;
  if (file != NULL) {
    if (fscanf(file, "%*d %lld", &pages) != 1) pages = 0;
    fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

/// Memory that n processes share counts a n-th for each.
static long long ProportionalBytes(pid_t process) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", process);
  FILE* const file = fopen(path, "re");
  if (file == NULL) return ResidentBytes(process);
  long long kilobytes = 0;
  char line[256];
  while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "Pss: %lld", &kilobytes) != 1) {
  }
  fclose(file);
  return kilobytes * 1024;
}

static void AddMemory(pid_t process, void* data) {
  struct TreeMemory* const memory = data;
  memory->bytes += memory->is_exact ? ProportionalBytes(process) : ResidentBytes(process);
  ForEachChild(process, AddMemory, data);
}

static int ExceedsMemory(long long limit) {
  struct TreeMemory upper_bound = {0, 0};
  ForEachChild(getpid(), AddMemory, &upper_bound);
  if (upper_bound.bytes <= limit) return 0;
  struct TreeMemory exact = {0, 1};
  ForEachChild(getpid(), AddMemory, &exact);
  return exact.bytes > limit;
}

// ---- The guard's own life ----------------------------------------------------------------------

/// Reaps what has ended; 1 if the child is among it.
static int Reap(pid_t child, int* status) {
  int ended = 0;
  for (pid_t reaped; (reaped = waitpid(-1, &ended, WNOHANG)) > 0;) {
    if (reaped != child) continue;
    *status = ended;
    return 1;
  }
  return 0;
}

/// Until the child has ended, has to, or its owner has gone. `max_resident`: bytes; 0: no limit.
static struct GuardEnd WatchChild(long long max_resident, int owner, int signals, pid_t child) {
  struct GuardEnd end = {SIGKILL, 0};
  const int interval = max_resident > 0 ? kMemoryInterval : -1;
  while (1) {
    struct pollfd events[2] = {{owner, POLLIN, 0}, {signals, POLLIN, 0}};
    const int ready = poll(events, 2, interval);
    if (ready > 0 && events[0].revents != 0) return end;
    struct signalfd_siginfo arrived;
    while (ready > 0 && read(signals, &arrived, sizeof(arrived)) == (ssize_t)sizeof(arrived)) {
      if (arrived.ssi_signo == SIGTERM) {
        Reap(child, &end.status);  // it may have ended by itself
        return end;
      }
    }
    if (Reap(child, &end.status)) return end;
    if (interval > 0 && ExceedsMemory(max_resident)) {
      end.exceeded_memory = 1;
      return end;
    }
  }
}

/// Starts the child in a group of its own, or in the guard's where that cannot be entered.
static struct GuardStart StartInGroup(const struct GuardOrder* order, char** arguments,
                                      struct BayloomControlGroup* group) {
  const struct GuardStart start = StartChild(order, arguments, group->path);
  if (start.stage != kGuardGroup) return start;
  BayloomEndControlGroup(group->path);
  *group->path = '\0';
  return StartChild(order, arguments, group->path);
}

int main(int argc, char** argv) {
  struct GuardOrder order;
  if (argc < 3 + kGuardProgramArgument ||
      sscanf(argv[1], BAYLOOM_GUARD_ORDER_FORMAT, &order.owner, &order.report,
             &order.address_space_bytes, &order.resident_bytes, &order.open_files,
             &order.preferred_oom_victim, &order.sandbox) != 7) {
    return 127;
  }
  prctl(PR_SET_NAME, argv[0]);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  fcntl(order.report, F_SETFD, FD_CLOEXEC);
  // What the child inherits closed must not become something of the guard's.
  int unused;
  while ((unused = open("/dev/null", O_RDWR)) >= 0 && unused < order.report) {
  }
  if (unused >= 0) close(unused);
  for (char** variable = environ; *variable != NULL; ++variable) ++*variable;  // the prefix
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  const int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  const int owner = (int)syscall(SYS_pidfd_open, order.owner, 0);  // close-on-exec
  if (getppid() != order.owner) return 127;

  struct GuardStart start = {kGuardProcess, errno, 0};
  char** const arguments = argv + 2;
  struct BayloomControlGroup group =
      BayloomMakeControlGroup(arguments[kGuardGroupsArgument], getpid());
  const int kernel_limits_memory =
      order.resident_bytes > 0 &&
      BayloomLimitControlGroupMemory(group.path, order.resident_bytes) == 0;
  if (signals >= 0 && owner >= 0) start = StartInGroup(&order, arguments, &group);
  // The child's streams are the child's alone: their ends mean something.
  for (int descriptor = 0; descriptor < order.report; ++descriptor) close(descriptor);
  if (write(order.report, &start, sizeof(start)) != (ssize_t)sizeof(start)) start.stage = -1;
  if (start.stage != kGuardStarted && start.child <= 0) {
    BayloomEndControlGroup(group.path);
    return 127;
  }
  const int is_limited = kernel_limits_memory && *group.path != '\0';
  struct GuardEnd end =
      WatchChild(is_limited ? 0 : order.resident_bytes, owner, signals, start.child);
  if (is_limited) end.exceeded_memory = BayloomControlGroupExceededMemory(group.path);
  BayloomEndControlGroup(group.path);
  end.status = KillDescendants(start.child, end.status);
  return write(order.report, &end, sizeof(end)) == (ssize_t)sizeof(end) ? 0 : 127;
}
