// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/build_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/subprocess.h"
#include "bayloom/measure/memory_limit.h"
#include "bayloom/measure/protocol.h"

namespace bayloom::measure {

template <>
inline constexpr std::tuple kFields<BuildReport> = {&BuildReport::index, &BuildReport::seconds,
                                                    &BuildReport::error, &BuildReport::kernel};

namespace {

/// Time for the rest of a message that has begun.
constexpr double kMessageSeconds = 10;

uint32_t TypeOf(BuildReport::Event event) { return static_cast<uint32_t>(event); }

/// Compiles one program; what it throws is an error like others.
BuildReport BuildOne(const tensor::Program& program, const Compile& compile) {
  BuildReport report;
  report.event = BuildReport::Event::kBuilt;
  const double start = base::MonotonicSeconds();
  try {
    Result<codegen::KernelObject> kernel = compile(program);
    if (kernel) {
      report.kernel = *std::move(kernel);
    } else {
      report.error = kernel.error().message;
    }
  } catch (const std::exception& e) {
    report.error = e.what();
  }
  report.seconds = base::MonotonicSeconds() - start;
  return report;
}

/// In the child. It must end with _exit: what the tuner has open is not its to close.
void CompileFromQueue(std::span<const tensor::Program* const> programs, BuildQueue& queue,
                      const Compile& compile, Channel& channel) {
  while (true) {
    BuildReport began;
    began.index = queue.Take();
    if (began.index >= static_cast<int64_t>(programs.size())) return;
    if (!channel.Send(TypeOf(BuildReport::Event::kBegan), EncodeBody(began))) return;
    BuildReport built = BuildOne(*programs[began.index], compile);
    built.index = began.index;
    if (!channel.Send(TypeOf(BuildReport::Event::kBuilt), EncodeBody(built))) return;
  }
}

void BecomeWorker(pid_t tuner, int standard_error) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != tuner) _exit(1);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // A program on which the compiler takes all memory costs that program, not the machine.
  if (kAddressSpaceCanBeLimited) {
    const auto bytes = static_cast<rlim_t>(DefaultMemoryLimit());
    const rlimit memory = {bytes, bytes};
    setrlimit(RLIMIT_AS, &memory);
  }
  for (int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(signal_number, SIG_DFL);
  }
  std::signal(SIGINT, SIG_IGN);  // the tuner decides what a Ctrl-C means
  // When the system runs out of memory, it is not the tuner that has to go.
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  [[maybe_unused]] const ssize_t written = write(score, "1000", 4);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(standard_error, STDERR_FILENO);
}

}  // namespace

Result<BuildQueue> BuildQueue::Make() {
  void* memory = mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error{fmt::format("cannot map shared memory: {}", std::strerror(errno))};
  }
  BuildQueue queue;
  queue.next_ = new (memory) std::atomic<int64_t>(0);
  return queue;
}

BuildQueue::~BuildQueue() {
  if (next_) munmap(next_, sizeof(std::atomic<int64_t>));
}

Result<BuildWorker> BuildWorker::Start(std::span<const tensor::Program* const> programs,
                                       BuildQueue& queue, const Compile& compile) {
  Result<std::pair<Channel, Channel>> ends = Channel::MakePair();
  if (!ends) return ends.error();
  BuildWorker worker;
  worker.standard_error_ = memfd_create("bayloom-build-worker", MFD_CLOEXEC);
  if (worker.standard_error_ < 0) {
    return Error{fmt::format("cannot make shared memory: {}", std::strerror(errno))};
  }
  const pid_t tuner = getpid();
  worker.pid_ = fork();
  if (worker.pid_ < 0) {
    return Error{fmt::format("cannot start a process: {}", std::strerror(errno))};
  }
  if (worker.pid_ == 0) {
    { const Channel theirs = std::move(ends->first); }  // so that it closes with the tuner
    BecomeWorker(tuner, worker.standard_error_);
    CompileFromQueue(programs, queue, compile, ends->second);
    _exit(0);
  }
  worker.channel_ = std::move(ends->first);
  return worker;
}

BuildWorker& BuildWorker::operator=(BuildWorker&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(channel_, other.channel_);
  std::swap(standard_error_, other.standard_error_);
  std::swap(was_killed_, other.was_killed_);
  std::swap(has_closed_, other.has_closed_);
  return *this;
}

BuildWorker::~BuildWorker() {
  if (pid_ > 0) {
    Kill();
    Wait();
  }
  if (standard_error_ >= 0) close(standard_error_);
}

BuildReport BuildWorker::Receive() {
  const Channel::Received received = channel_.Receive(kMessageSeconds);
  has_closed_ = received.event == Channel::Event::kClosed;
  if (received.event != Channel::Event::kMessage ||
      received.type > TypeOf(BuildReport::Event::kBuilt)) {
    return {};
  }
  try {
    auto report = DecodeBody<BuildReport>(received.body);
    report.event = static_cast<BuildReport::Event>(received.type);
    return report;
  } catch (const std::out_of_range&) {
    return {};
  }
}

void BuildWorker::Kill() {
  kill(pid_, SIGKILL);
  // By the time that its end of the channel has closed, how it ends is decided.
  if (!has_closed_) was_killed_ = true;
}

BuildWorkerEnd BuildWorker::Wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  base::ExitStatus ended;
  ended.signaled = WIFSIGNALED(status);
  ended.code = ended.signaled ? WTERMSIG(status) : WEXITSTATUS(status);
  std::string text(256, '\0');
  const ssize_t length = pread(standard_error_, text.data(), text.size(), 0);
  text.resize(std::max<ssize_t>(length, 0));
  text = text.substr(0, text.find('\n'));
  return {text.empty() ? ended.Describe() : ended.Describe() + ": " + text,
          ended.signaled && ended.code == SIGKILL && !was_killed_};
}

}  // namespace bayloom::measure
