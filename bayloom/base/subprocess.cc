// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

void CloseDescriptor(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// Both ends of what a child's stream needs; closed unless taken over.
struct StreamEnds {
  int parent = -1;
  int child = -1;
};

struct Launch {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::vector<int> child_descriptors;  ///< what becomes 0, 1, 2, 3, ...; -1 keeps the parent's
  int failure_pipe[2] = {-1, -1};      ///< carries errno if the program cannot be started
  StreamEnds streams[3];

  ~Launch() {
    for (int& end : failure_pipe) CloseDescriptor(end);
    for (StreamEnds& stream : streams) {
      CloseDescriptor(stream.child);
      CloseDescriptor(stream.parent);
    }
  }
};

[[noreturn]] void ThrowSystemError(const char* what) {
  throw SystemError(fmt::format("{}: {}", what, strerror(errno)));
}

void OpenStream(ChildStream kind, int number, StreamEnds& stream) {
  if (kind == ChildStream::kNull) {
    stream.child = open("/dev/null", (number == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
    if (stream.child < 0) ThrowSystemError("cannot open /dev/null");
  } else if (kind == ChildStream::kPipe) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) ThrowSystemError("cannot open a pipe");
    stream.child = ends[number == 0 ? 0 : 1];
    stream.parent = ends[number == 0 ? 1 : 0];
  }
}

void WriteText(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, text, strlen(text));
  close(file);
}

/// In the child, between fork and exec: only async-signal-safe calls. Returns on failure only.
void BecomeProgram(const SubprocessOptions& options, Launch& launch) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal_number : {SIGINT, SIGTERM, SIGPIPE}) signal(signal_number, SIG_DFL);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (options.memory_limit_bytes > 0) {
    const rlim_t bytes = static_cast<rlim_t>(options.memory_limit_bytes);
    const rlimit limit = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return;
  }
  if (options.preferred_oom_victim) WriteText("/proc/self/oom_score_adj", "1000");
  // Sources first go out of the way of the numbers they will get, then down to them.
  const int count = static_cast<int>(launch.child_descriptors.size());
  for (int& source : launch.child_descriptors) {
    if (source < 0) continue;
    source = fcntl(source, F_DUPFD_CLOEXEC, count);
    if (source < 0) return;
  }
  const int failure = fcntl(launch.failure_pipe[1], F_DUPFD_CLOEXEC, count);
  if (failure < 0) return;
  launch.failure_pipe[1] = failure;
  for (int i = 0; i < count; ++i) {
    const int source = launch.child_descriptors[i];
    if (source >= 0 && dup2(source, i) < 0) return;
  }
  if (!options.directory.empty() && chdir(options.directory.c_str()) != 0) return;
  execvpe(launch.arguments[0], launch.arguments.data(), launch.environment.data());
}

/// This process's environment with the variables of `changes` set anew.
std::vector<char*> Environment(const std::vector<std::string>& changes) {
  std::vector<char*> environment;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view kept = *variable;
    const auto sets_it = [&](const std::string& change) {
      return kept.starts_with(std::string_view(change).substr(0, change.find('=') + 1));
    };
    if (std::none_of(changes.begin(), changes.end(), sets_it)) environment.push_back(*variable);
  }
  for (const std::string& change : changes) environment.push_back(const_cast<char*>(change.data()));
  environment.push_back(nullptr);
  return environment;
}

ExitStatus Decode(int status) {
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

}  // namespace

std::string ExitStatus::Describe() const {
  if (!signaled) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(code);
  return name ? fmt::format("signal {} (SIG{})", code, name) : fmt::format("signal {}", code);
}

Result<Subprocess> Subprocess::Start(const SubprocessOptions& options) {
  Launch launch;
  for (const std::string& argument : options.arguments) {
    launch.arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  launch.arguments.push_back(nullptr);
  launch.environment = Environment(options.environment);
  const ChildStream kinds[3] = {options.standard_input, options.standard_output,
                                options.standard_error};
  for (int i = 0; i < 3; ++i) {
    OpenStream(kinds[i], i, launch.streams[i]);
    launch.child_descriptors.push_back(launch.streams[i].child);
  }
  for (int descriptor : options.descriptors) launch.child_descriptors.push_back(descriptor);
  if (pipe2(launch.failure_pipe, O_CLOEXEC) != 0) ThrowSystemError("cannot open a pipe");

  const pid_t pid = fork();
  if (pid < 0) ThrowSystemError("cannot start a process");
  if (pid == 0) {
    BecomeProgram(options, launch);
    const int reason = errno;
    [[maybe_unused]] const ssize_t written = write(launch.failure_pipe[1], &reason, sizeof(reason));
    _exit(127);
  }
  setpgid(pid, pid);  // the child does it too; whoever is first
  Subprocess child;
  child.pid_ = pid;
  child.process_descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));  // close-on-exec
  for (int i = 0; i < 3; ++i) child.pipes_[i] = std::exchange(launch.streams[i].parent, -1);

  CloseDescriptor(launch.failure_pipe[1]);
  int reason = 0;
  ssize_t bytes;
  do {
    bytes = read(launch.failure_pipe[0], &reason, sizeof(reason));
  } while (bytes < 0 && errno == EINTR);
  if (bytes == sizeof(reason)) {
    child.Wait();
    return Error{fmt::format("cannot run {}{}{}: {}", options.arguments[0],
                             options.directory.empty() ? "" : " in ", options.directory,
                             strerror(reason))};
  }
  if (child.process_descriptor_ < 0) ThrowSystemError("cannot watch a process");
  return child;
}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(process_descriptor_, other.process_descriptor_);
  std::swap(pipes_, other.pipes_);
  std::swap(ended_, other.ended_);
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ > 0) Kill();
  ClosePipes();
  CloseDescriptor(process_descriptor_);
}

void Subprocess::ClosePipes() {
  for (int& pipe : pipes_) CloseDescriptor(pipe);
}

void Subprocess::CloseInput() { CloseDescriptor(pipes_[0]); }

std::optional<ExitStatus> Subprocess::Wait(double seconds) {
  if (ended_) return ended_;
  const double deadline = MonotonicSeconds() + seconds;
  while (seconds >= 0) {
    const double left = std::max(0.0, deadline - MonotonicSeconds());
    pollfd end = {process_descriptor_, POLLIN, 0};
    const int ready = poll(&end, 1, static_cast<int>(std::ceil(std::min(left, 1e6) * 1000)));
    if (ready > 0) break;
    if (ready == 0 && MonotonicSeconds() >= deadline) return std::nullopt;
  }
  int status = 0;
  pid_t reaped;
  do {
    reaped = waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  ended_ = reaped == pid_ ? Decode(status) : ExitStatus{false, 127};
  return ended_;
}

ExitStatus Subprocess::Kill() {
  if (!ended_) {
    kill(-pid_, SIGKILL);
    Wait();
  }
  return *ended_;
}

void Subprocess::KillLeftovers() {
  if (ended_ && pid_ > 0) kill(-pid_, SIGKILL);
}

}  // namespace bayloom::base
