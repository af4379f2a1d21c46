#include "bayloom/external/program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "bayloom/base/clock.h"
#include "bayloom/external/field.h"
#include "bayloom/external/quiet_write.h"

namespace bayloom {
namespace {

constexpr size_t kKeptOutput = size_t{1} << 20;
constexpr size_t kKeptErrors = size_t{4} << 10;
/// How often a running program is looked at for having ended or having to.
constexpr double kGlance = 0.05;

/// A pipe's end that is read or written without waiting.
class PipeEnd {
 public:
  explicit PipeEnd(int descriptor) : descriptor_(descriptor) {
    fcntl(descriptor_, F_SETFL, O_NONBLOCK);
  }

  bool is_open() const { return is_open_; }
  pollfd Poll(int16_t events) const { return {is_open_ ? descriptor_ : -1, events, 0}; }

  /// Takes what there is; keeps the last bytes only.
  void Read(std::string& text, size_t kept) {
    char buffer[65536];
    while (is_open_) {
      const ssize_t bytes = read(descriptor_, buffer, sizeof(buffer));
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0 && errno == EAGAIN) return;
      if (bytes <= 0) {
        is_open_ = false;
        return;
      }
      text.append(buffer, static_cast<size_t>(bytes));
      if (text.size() > 2 * kept) text.erase(0, text.size() - kept);
    }
  }

  /// Writes what fits; closed when all is written or nobody reads.
  void Write(std::string_view& text) {
    while (is_open_ && !text.empty()) {
      const ssize_t bytes = QuietWrite(descriptor_, text.data(), text.size());
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes < 0 && errno == EAGAIN) return;
      if (bytes < 0) break;
      text.remove_prefix(static_cast<size_t>(bytes));
    }
    is_open_ = false;
  }

 private:
  int descriptor_;
  bool is_open_ = true;
};

void KeepLast(std::string& text, size_t kept) {
  if (text.size() > kept) text.erase(0, text.size() - kept);
}

}  // namespace

ProgramRun RunProgram(const ProgramCall& call, const std::stop_token& stop) {
  ProgramRun run;
  SubprocessOptions options;
  options.arguments = call.arguments;
  options.standard_input = call.input.empty() ? ChildStream::kNull : ChildStream::kPipe;
  options.standard_output = ChildStream::kPipe;
  options.standard_error = ChildStream::kPipe;
  options.directory = call.directory;
  options.environment = call.environment;
  options.memory_limit_bytes = call.memory_limit_bytes;
  options.first_to_go = true;
  const double deadline = MonotonicSeconds() + call.timeout;
  Result<Subprocess> started = Subprocess::Start(options);
  if (!started) {
    run.end = ProgramRun::End::kNotStarted;
    run.problem = started.error().message;
    return run;
  }
  Subprocess child = *std::move(started);
  PipeEnd output(child.output());
  PipeEnd errors(child.error());
  std::optional<PipeEnd> input;
  if (child.input() >= 0) input.emplace(child.input());
  std::string_view unwritten = call.input;

  std::optional<ExitStatus> ended;
  while (!ended) {
    if (stop.stop_requested() || MonotonicSeconds() >= deadline) {
      // It may have ended in time, unseen.
      ended = child.Wait(0);
      if (ended) break;
      run.end = stop.stop_requested() ? ProgramRun::End::kStopped : ProgramRun::End::kTimedOut;
      run.status = child.Kill();
      break;
    }
    pollfd ends[3] = {output.Poll(POLLIN), errors.Poll(POLLIN),
                      input ? input->Poll(POLLOUT) : pollfd{-1, 0, 0}};
    const double patience = std::min(kGlance, deadline - MonotonicSeconds());
    const bool anything_open = output.is_open() || errors.is_open();
    if (anything_open) poll(ends, 3, static_cast<int>(1000 * std::max(patience, 0.0)) + 1);
    output.Read(run.output, kKeptOutput);
    errors.Read(run.errors, kKeptErrors);
    if (input && input->is_open()) {
      input->Write(unwritten);
      if (!input->is_open()) child.CloseInput();
    }
    ended = child.Wait(output.is_open() || errors.is_open() ? 0 : std::max(patience, 0.0));
  }
  if (ended) run.status = *ended;
  output.Read(run.output, kKeptOutput);
  errors.Read(run.errors, kKeptErrors);
  child.KillLeftovers();
  KeepLast(run.output, kKeptOutput);
  KeepLast(run.errors, kKeptErrors);
  return run;
}

std::string LastWords(const std::string& text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return "";
  const size_t line = text.find_last_of("\r\n", last);
  const size_t first = line == std::string::npos ? 0 : line + 1;
  return InOneLine(std::string_view(text).substr(first, last + 1 - first), 200);
}

}  // namespace bayloom
