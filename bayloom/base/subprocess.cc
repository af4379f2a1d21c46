// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
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
#include "bayloom/base/control_group.h"
#include "bayloom/base/control_group_parent.h"
#include "bayloom/base/emulator.h"
#include "bayloom/base/guard_program.h"
#include "bayloom/base/guard_protocol.h"
#include "bayloom/base/job_limits.h"
#include "bayloom/base/system_error.h"

namespace bayloom::base {
namespace {

/// How long a guard may take to end what it guards before it is ended itself, seconds.
constexpr double kKillSeconds = 3;

[[noreturn]] void ThrowSystemError(const char* what, int error = errno) {
  throw SystemError(fmt::format("{}: {}", what, strerror(error)));
}

/// Both ends of what a child's stream needs.
struct StreamEnds {
  Descriptor parent;
  Descriptor child;
};

StreamEnds OpenPipe(bool child_reads) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) ThrowSystemError("cannot open a pipe");
  return {Descriptor(ends[child_reads ? 1 : 0]), Descriptor(ends[child_reads ? 0 : 1])};
}

StreamEnds OpenStream(ChildStream kind, int number) {
  if (kind == ChildStream::kInherit) return {};
  if (kind == ChildStream::kPipe) return OpenPipe(number == 0);
  Descriptor null(open("/dev/null", (number == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
  if (null.number() < 0) ThrowSystemError("cannot open /dev/null");
  return {{}, std::move(null)};
}

/// The variables of this process's environment, those of `changes` set again, with the prefix of
/// the guard's protocol.
std::vector<std::string> GuardEnvironment(const std::vector<std::string>& changes) {
  std::vector<std::string> environment;
  const auto add = [&](std::string_view variable) {
    environment.push_back(static_cast<char>(kGuardPrefix) + std::string(variable));
  };
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view kept = *variable;
    const auto sets_it = [&](const std::string& change) {
      return kept.starts_with(std::string_view(change).substr(0, change.find('=') + 1));
    };
    if (std::none_of(changes.begin(), changes.end(), sets_it)) add(kept);
  }
  for (const std::string& change : changes) add(change);
  return environment;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// What is executed for the arguments: "/proc/self/exe", which to the guard would be the guard's
/// program, is named so that it is this one, run by an emulator where this process is.
std::vector<std::string> ProgramArguments(std::vector<std::string> arguments) {
  if (arguments[0] != "/proc/self/exe") return arguments;
  const Emulator* const emulator = EmulatorOfThisProcess();
  if (emulator == nullptr) {
    arguments[0] = fmt::format("/proc/{}/exe", getpid());
    return arguments;
  }
  arguments[0] = emulator->program;
  arguments.insert(arguments.begin(), emulator->command.begin(), emulator->command.end());
  return arguments;
}

/// The guard's arguments. `report`: the number of its descriptor there.
std::vector<std::string> GuardArguments(const SubprocessOptions& options, int report) {
  const std::string order =
      fmt::format("{} {} {} {} {} {:d} {:d}", getpid(), report, options.memory_limit_bytes,
                  options.resident_limit_bytes, OpenFilesOfChildren(), options.preferred_oom_victim,
                  options.sandbox.has_value());
  std::vector<std::string> arguments = {"bayloom-guard", order, options.directory,
                                        options.sandbox ? options.sandbox->writable_folder : "",
                                        ControlGroupParent()};
  const std::vector<std::string> program = ProgramArguments(options.arguments);
  arguments.insert(arguments.end(), program.begin(), program.end());
  return arguments;
}

/// What posix_spawn is to do for the guard, besides starting it.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (int number : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGXFSZ}) sigaddset(&defaults, number);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// The i-th of the descriptors becomes i; -1 leaves i alone.
  void Give(const std::vector<int>& descriptors) {
    const int count = static_cast<int>(descriptors.size());
    for (int i = 0; i < count; ++i) {
      int source = descriptors[i];
      if (source < 0) continue;
      if (source < count) {  // it would be overwritten by another that gets its number
        source = fcntl(source, F_DUPFD_CLOEXEC, count);
        if (source < 0) ThrowSystemError("cannot duplicate a descriptor");
        moved_.emplace_back(source);
      }
      posix_spawn_file_actions_adddup2(&actions_, source, i);
    }
  }

  pid_t Start(const std::vector<std::string>& arguments,
              const std::vector<std::string>& environment) {
    std::string program = GuardProgram();
    std::vector<std::string> all = arguments;
    const Emulator* const emulator = EmulatorOfThisProcess();
    if (emulator != nullptr && !emulator->command.empty()) {
      all[0] = program;
      all.insert(all.begin(), emulator->command.begin(), emulator->command.end());
      program = all[0];
    }
    pid_t process = -1;
    const int error = posix_spawn(&process, program.c_str(), &actions_, &attributes_,
                                  Pointers(all).data(), Pointers(environment).data());
    if (error != 0) ThrowSystemError("cannot start a process", error);
    return process;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<Descriptor> moved_;
};

/// Reads one report of a guard; false if there is none.
template <typename Report>
bool ReadReport(int descriptor, Report& report) {
  ssize_t bytes;
  do {
    bytes = read(descriptor, &report, sizeof(report));
  } while (bytes < 0 && errno == EINTR);
  return bytes == static_cast<ssize_t>(sizeof(report));
}

/// A program's failure to start that is this machine's: trying again may help.
bool IsSystemAtFault(const GuardStart& start) {
  if (start.stage == kGuardProcess) return true;
  switch (start.error) {
    case ENOMEM:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case EIO:
    case ENOSPC:
      return start.stage != kGuardSandbox;
    default:
      return false;
  }
}

Error StartError(const SubprocessOptions& options, const GuardStart& start) {
  const char* const reason = strerror(start.error);
  if (start.stage == kGuardProcess) {
    return Error{fmt::format("cannot start a process: {}", reason)};
  }
  if (start.stage == kGuardSandbox) {
    return Error{fmt::format("cannot run {} in a sandbox: this system does not allow it: {}",
                             options.arguments[0], reason)};
  }
  return Error{fmt::format("cannot run {}{}{}: {}", options.arguments[0],
                           options.directory.empty() ? "" : " in ", options.directory, reason)};
}

ExitStatus Decode(int status) {
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

void Reap(pid_t process) {
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// What a guard can do no more that was killed itself: kills what is left of its child.
void EndGroupOf(pid_t guard) {
  char path[kControlGroupPathSize];
  BayloomControlGroupPath(ControlGroupParent().c_str(), guard, path);
  if (*path != '\0') RemoveControlGroupIfDead(path, /*attempts=*/10);
}

}  // namespace

std::string ExitStatus::Describe() const {
  if (!signaled) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(code);
  return name ? fmt::format("signal {} (SIG{})", code, name) : fmt::format("signal {}", code);
}

Result<Subprocess> Subprocess::Start(const SubprocessOptions& options) {
  const ChildStream kinds[3] = {options.standard_input, options.standard_output,
                                options.standard_error};
  StreamEnds streams[3];
  std::vector<int> given;
  for (int i = 0; i < 3; ++i) {
    streams[i] = OpenStream(kinds[i], i);
    given.push_back(streams[i].child.number());
  }
  given.insert(given.end(), options.descriptors.begin(), options.descriptors.end());
  StreamEnds report = OpenPipe(/*child_reads=*/false);
  const int report_number = static_cast<int>(given.size());
  given.push_back(report.child.number());

  Subprocess child;
  {
    SpawnPlan plan;
    plan.Give(given);
    child.guard_ =
        plan.Start(GuardArguments(options, report_number), GuardEnvironment(options.environment));
  }
  report.child = Descriptor();
  for (int i = 0; i < 3; ++i) child.pipes_[i] = std::move(streams[i].parent);
  child.report_ = std::move(report.parent);

  GuardStart start;
  if (!ReadReport(child.report_.number(), start)) {
    const pid_t guard = std::exchange(child.guard_, -1);
    EndGroupOf(guard);  // before its number may be another's
    Reap(guard);
    throw SystemError("cannot start a process: its guard was killed");
  }
  if (start.stage != kGuardStarted) {
    Reap(std::exchange(child.guard_, -1));
    const Error error = StartError(options, start);
    if (IsSystemAtFault(start)) throw SystemError(error.message);
    return error;
  }
  child.pid_ = start.child;
  return child;
}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(guard_, other.guard_);
  std::swap(report_, other.report_);
  std::swap(pipes_, other.pipes_);
  std::swap(ended_, other.ended_);
  return *this;
}

Subprocess::~Subprocess() {
  if (guard_ > 0) Kill();
}

void Subprocess::CloseInput() { pipes_[0].Close(); }

ExitStatus Subprocess::ReadEnd() {
  GuardEnd end;
  ExitStatus status = {true, SIGKILL};  // if the guard was killed, the child went with it
  if (ReadReport(report_.number(), end)) {
    status = Decode(end.status);
    status.exceeded_memory = end.exceeded_memory != 0;
  } else if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    EndGroupOf(guard_);
  }
  Reap(guard_);
  return status;
}

std::optional<ExitStatus> Subprocess::Wait(double seconds) {
  if (ended_) return ended_;
  const double deadline = MonotonicSeconds() + seconds;
  while (seconds >= 0) {
    const double left = std::max(0.0, deadline - MonotonicSeconds());
    pollfd end = {report_.number(), POLLIN, 0};
    const int ready = poll(&end, 1, static_cast<int>(std::ceil(std::min(left, 1e6) * 1000)));
    if (ready > 0) break;
    if (ready == 0 && MonotonicSeconds() >= deadline) return std::nullopt;
  }
  ended_ = ReadEnd();
  return ended_;
}

ExitStatus Subprocess::Kill() {
  if (ended_) return *ended_;
  kill(guard_, SIGTERM);
  kill(guard_, SIGCONT);  // it may have been stopped
  if (!Wait(kKillSeconds)) {
    kill(guard_, SIGKILL);
    Wait();
  }
  return *ended_;
}

Status CheckSandbox() {
  SubprocessOptions options;
  options.arguments = {"true"};
  options.sandbox = Sandbox{};
  Result<Subprocess> child = Subprocess::Start(options);
  if (!child) return child.error();
  child->Wait();
  return Ok();
}

}  // namespace bayloom::base
