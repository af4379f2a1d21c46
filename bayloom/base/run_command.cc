// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/out_of_memory.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/write_ignoring_sigpipe.h"

namespace bayloom::base {
namespace {

constexpr size_t kMaxOutput = size_t{1} << 20;
constexpr size_t kMaxErrorOutput = size_t{4} << 10;
/// How often a running command is checked for its end and for requests to stop it, seconds.
constexpr double kPollInterval = 0.05;

/// A pipe's end that is read or written without waiting.
class PipeEnd {
 public:
  explicit PipeEnd(int descriptor) : descriptor_(descriptor), is_open_(descriptor >= 0) {
    if (is_open_) fcntl(descriptor_, F_SETFL, O_NONBLOCK);
  }

  bool is_open() const { return is_open_; }
  pollfd Poll(int16_t events) const { return {is_open_ ? descriptor_ : -1, events, 0}; }

  /// Takes what there is, but no more than a pipe holds at most (a program may write without end);
  /// of the text, keeps the last bytes.
  void Read(std::string& text, size_t max_bytes) {
    char buffer[65536];
    for (int chunks = 0; is_open_ && chunks < 16; ++chunks) {
      const ssize_t bytes = read(descriptor_, buffer, sizeof(buffer));
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0 && errno == EAGAIN) break;
      if (bytes <= 0) is_open_ = false;
      if (bytes > 0) text.append(buffer, static_cast<size_t>(bytes));
    }
    if (text.size() > max_bytes) text.erase(0, text.size() - max_bytes);
  }

  /// Writes what fits; closed when all is written or no one reads. Throws SystemError.
  void Write(std::string_view& text) {
    while (is_open_ && !text.empty()) {
      const ssize_t bytes = WriteIgnoringSigpipe(descriptor_, text.data(), text.size());
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0 && errno == EAGAIN) return;
      if (bytes < 0 && errno == EPIPE) break;
      if (bytes < 0) {
        throw SystemError(std::string("cannot write to a process: ") + std::strerror(errno));
      }
      text.remove_prefix(static_cast<size_t>(bytes));
    }
    is_open_ = false;
  }

 private:
  int descriptor_;
  bool is_open_;
};

SubprocessOptions OptionsOf(const Command& command) {
  SubprocessOptions options;
  options.arguments = command.arguments;
  options.standard_input = command.input.empty() ? ChildStream::kNull : ChildStream::kPipe;
  options.standard_output = ChildStream::kPipe;
  options.standard_error = ChildStream::kPipe;
  options.directory = command.directory;
  options.environment = command.environment;
  options.memory_limit_bytes = options.resident_limit_bytes = command.memory_limit_bytes;
  options.sandbox = command.sandbox;
  options.preferred_oom_victim = true;
  return options;
}

/// A command's process with its three streams.
class RunningCommand {
 public:
  RunningCommand(Subprocess child, const Command& command)
      : child_(std::move(child)),
        output_(child_.output()),
        error_output_(child_.error()),
        input_(child_.input()),
        unwritten_(command.input) {}

  /// Moves data through the streams for up to `seconds`; the status once the process has ended.
  std::optional<ExitStatus> Exchange(double seconds, CommandResult& result) {
    const bool any_output = output_.is_open() || error_output_.is_open();
    if (any_output) {
      pollfd ends[3] = {output_.Poll(POLLIN), error_output_.Poll(POLLIN), input_.Poll(POLLOUT)};
      poll(ends, 3, static_cast<int>(1000 * seconds) + 1);
    }
    ReadOutput(result);
    if (input_.is_open()) {
      input_.Write(unwritten_);
      if (!input_.is_open()) child_.CloseInput();
    }
    return child_.Wait(any_output ? 0 : seconds);
  }

  /// Ends the process and all that it started; takes what it had written.
  ExitStatus Finish(CommandResult& result) {
    const ExitStatus status = child_.Kill();
    ReadOutput(result);
    return status;
  }

 private:
  void ReadOutput(CommandResult& result) {
    output_.Read(result.output, kMaxOutput);
    error_output_.Read(result.error_output, kMaxErrorOutput);
  }

  Subprocess child_;
  PipeEnd output_;
  PipeEnd error_output_;
  PipeEnd input_;
  std::string_view unwritten_;
};

}  // namespace

CommandResult RunCommand(const Command& command, const std::stop_token& stop) {
  using End = CommandResult::End;
  CommandResult result;
  const double deadline = MonotonicSeconds() + command.timeout_seconds;
  const OutOfMemoryWatch memory;
  Result<Subprocess> started = Subprocess::Start(OptionsOf(command));
  if (!started) {
    result.end = End::kNotStarted;
    result.start_error = started.error().message;
    return result;
  }
  RunningCommand running(*std::move(started), command);
  bool has_ended = false;
  while (!has_ended && !stop.stop_requested() && MonotonicSeconds() < deadline) {
    const double left = std::max(deadline - MonotonicSeconds(), 0.0);
    has_ended = running.Exchange(std::min(left, kPollInterval), result).has_value();
  }
  // It may have ended in time, unseen.
  if (!has_ended) has_ended = running.Exchange(0, result).has_value();
  if (!has_ended) result.end = stop.stop_requested() ? End::kStopped : End::kTimedOut;
  result.status = running.Finish(result);
  if (result.status.exceeded_memory) result.end = End::kMemory;
  if (result.end == End::kExited && memory.WasKilled(result.status)) {
    throw SystemError("the system ran out of memory and killed " + command.arguments[0]);
  }
  return result;
}

std::string LastLine(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return "";
  const size_t line_break = text.find_last_of("\r\n", last);
  const size_t first = line_break == std::string_view::npos ? 0 : line_break + 1;
  return SingleLine(text.substr(first, last + 1 - first), 200);
}

}  // namespace bayloom::base
