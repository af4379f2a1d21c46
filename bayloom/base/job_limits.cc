// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/job_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include "bayloom/base/result.h"

namespace bayloom::base {
namespace {

/// Descriptors for all that is not a job: databases, libraries, standard streams.
constexpr int64_t kOtherOpenFiles = 64;
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

std::atomic<int64_t> open_files_of_children = 0;

int64_t Number(rlim_t limit) {
  return limit == RLIM_INFINITY ? kUnlimited : static_cast<int64_t>(limit);
}

int64_t NumberIn(const char* path) {
  int64_t number = kUnlimited;
  std::ifstream(path) >> number;
  return number > 0 ? number : kUnlimited;
}

/// Processes and threads that this machine runs now.
int64_t RunningProcesses() {
  std::string load;
  std::getline(std::ifstream("/proc/loadavg") >> std::ws, load);
  long long running = 0, all = 0;
  if (std::sscanf(load.c_str(), "%*f %*f %*f %lld/%lld", &running, &all) != 2) return 0;
  return all;
}

/// Processes that jobs may take: all that this user may have, and half of what the machine can
/// still start, so that others can start some as well.
int64_t ProcessesForJobs() {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NPROC, &limit);
  const int64_t machine =
      std::min(NumberIn("/proc/sys/kernel/pid_max"), NumberIn("/proc/sys/kernel/threads-max"));
  const int64_t left =
      machine == kUnlimited ? kUnlimited : std::max<int64_t>(0, machine - RunningProcesses()) / 2;
  return std::min(Number(limit.rlim_cur), left);
}

/// Sets the soft limit to `needed` if it is lower.
void RaiseOpenFiles(rlimit limit, int64_t needed) {
  if (Number(limit.rlim_cur) >= needed) return;
  int64_t unchanged = 0;
  open_files_of_children.compare_exchange_strong(unchanged, Number(limit.rlim_cur));
  limit.rlim_cur = static_cast<rlim_t>(needed);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void ReserveJobs(int64_t jobs, const JobNeeds& each) {
  rlimit files = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NOFILE, &files);
  const int64_t max_files = Number(files.rlim_max);
  const int64_t by_files = std::max<int64_t>(1, (max_files - kOtherOpenFiles) / each.open_files);
  const int64_t max_processes = ProcessesForJobs();
  const int64_t by_processes = std::max<int64_t>(1, max_processes / each.processes);
  if (jobs > by_files && by_files <= by_processes) {
    throw InputError(
        fmt::format("{} jobs at the same time need more than the {} open files that the limit "
                    "('ulimit -Hn') allows; {} jobs fit",
                    jobs, max_files, by_files));
  }
  if (jobs > by_processes) {
    throw InputError(fmt::format(
        "{} jobs at the same time need more than the {} processes that this machine can spare; {} "
        "jobs fit",
        jobs, max_processes, by_processes));
  }
  RaiseOpenFiles(files, std::min(max_files, kOtherOpenFiles + jobs * each.open_files));
}

int64_t OpenFilesOfChildren() { return open_files_of_children; }

}  // namespace bayloom::base
