// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/runner_main.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "bayloom/base/result.h"
#include "bayloom/measure/channel.h"
#include "bayloom/measure/crash_note.h"
#include "bayloom/measure/protocol.h"
#include "bayloom/measure/trial_runner.h"

namespace bayloom::measure {
namespace {

// Where the tuner puts what the runner inherits.
constexpr int kChannelDescriptor = 3;
constexpr int kNoteDescriptor = 4;
/// Out of the way of kernels that write to descriptors they do not have.
constexpr int kQuietDescriptor = 200;

bool this_program_can_be_a_runner = false;

/// Ends the process when the tuner is gone, even while a kernel hangs. (A death signal by prctl
/// would come when the thread ends that started this process, which may be long before.)
void EndWithTuner(int channel) {
  std::thread([channel] {
    pollfd hangup = {channel, POLLRDHUP, 0};
    while (poll(&hangup, 1, -1) < 0) {
    }
    _exit(1);
  }).detach();
}

int MoveAway(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kQuietDescriptor);
  if (moved < 0) return descriptor;
  close(descriptor);
  return moved;
}

int Serve() {
  Channel channel(MoveAway(kChannelDescriptor));
  Result<CrashNotePage> page = CrashNotePage::Map(MoveAway(kNoteDescriptor));
  if (!page) return 1;
  InstallCrashHandler(page->note());
  EndWithTuner(channel.descriptor());
  TrialRunner runner(page->note());
  bool connected = channel.Send(static_cast<uint32_t>(MessageType::kReady), "");
  while (connected) {
    const Channel::Received request = channel.Receive(-1);
    if (request.event != Channel::Event::kMessage) break;
    OutcomeMessage outcome;
    if (request.type == static_cast<uint32_t>(MessageType::kSetTask)) {
      outcome = runner.SetTask(DecodeBody<TaskMessage>(request.body), MoveAway(request.descriptor));
    } else {
      outcome = runner.Run(DecodeBody<TrialMessage>(request.body));
    }
    connected = channel.Send(static_cast<uint32_t>(MessageType::kOutcome), EncodeBody(outcome));
  }
  return 0;
}

}  // namespace

std::optional<int> RunAsRunner(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], kRunnerCommand) != 0) {
    this_program_can_be_a_runner = true;
    return std::nullopt;
  }
  if (fcntl(kChannelDescriptor, F_GETFD) < 0) return 2;  // started by hand
  return Serve();
}

std::string RunnerExecutable(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  if (const char* named = std::getenv("BAYLOOM_RUNNER")) return named;
  if (this_program_can_be_a_runner) return "/proc/self/exe";
  throw InputError(
      "no program to run candidates in: name one with the environment variable BAYLOOM_RUNNER, or "
      "call RunAsRunner in main");
}

}  // namespace bayloom::measure
