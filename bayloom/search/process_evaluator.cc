// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/base/json.h"
#include "bayloom/base/out_of_memory.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/base/write_ignoring_sigpipe.h"
#include "bayloom/search/command_builder.h"
#include "bayloom/search/evaluator_functions.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::search {
namespace {

constexpr size_t kMaxLineLength = size_t{1} << 20;
constexpr double kPollInterval = 0.05;
/// Questions whose late answers are known as such.
constexpr size_t kRemembered = 64;
/// Between two looks at whether the process has read on.
constexpr double kReadingInterval = 100e-6;

/// A program that gets one configuration a line and answers each with a line. It is started when
/// first needed and again after it has died, hung or talked nonsense without end.
class ProcessEvaluator {
 public:
  ProcessEvaluator(std::shared_ptr<const space::Space> space, const EvaluatorOptions& options,
                   std::shared_ptr<const TimeLimit> limit, std::shared_ptr<trial::Notices> notices)
      : space_(space),
        options_(options),
        limit_(std::move(limit)),
        notices_(std::move(notices)),
        filler_(std::move(space), options) {}

  std::optional<trial::Outcome> Evaluate(const space::Configuration& configuration,
                                         const std::stop_token& stop) {
    const double begun = base::MonotonicSeconds();
    timeout_ = limit_->Seconds();
    timeout_text_ = limit_->IsOverBest() ? OverBestText(options_.timeout_over_best) : "";
    std::optional<trial::Outcome> outcome =
        Exchange(space::ToJson(*space_, configuration), begun + timeout_, stop);
    if (outcome) outcome->Set("measure_seconds", base::MonotonicSeconds() - begun);
    return outcome;
  }

 private:
  std::optional<trial::Outcome> Exchange(const nlohmann::json& question, double deadline,
                                         const std::stop_token& stop) {
    const std::string text = question.dump() + "\n";
    std::string_view request = text;
    // A process that answered in full and ended is no fault of this configuration.
    if (child_ && child_->Wait(0)) child_.reset();
    if (!child_) {
      if (Status started = Start(); !started) {
        return trial::Outcome::Infeasible(trial::Verdict::kCrash, started.error().message);
      }
    }
    asked_.push_back(question);
    if (asked_.size() > kRemembered) asked_.pop_front();
    unread_.clear();
    // The process may write more after an answer, and does so before it reads the next line: the
    // rest of the request follows once its first character is read, and what was written by then is
    // no answer to it.
    size_t held_back = request.size() - 1;
    request.remove_suffix(held_back);
    while (true) {
      if (request.empty() && held_back > 0 && HasReadAll()) {
        DropLines();
        request = std::string_view(request.data(), std::exchange(held_back, 0));
      }
      if (const size_t end = unread_.find('\n');
          end != std::string::npos && request.empty() && held_back == 0) {
        const std::string line = unread_.substr(0, end);
        if (AnswersEarlier(line, question)) {
          unread_.erase(0, end + 1);
          TellOfLateLine(line);
          continue;
        }
        answered_ = true;
        if (const auto outcome = trial::ParseAnswerLine(line, options_.answer)) return outcome;
        // The next line might be the answer to this request: start a new process.
        return GiveUp(
            trial::Verdict::kInvalidAnswer,
            fmt::format("expected a number or a JSON object, found '{}'", base::SingleLine(line)));
      }
      if (unread_.size() > kMaxLineLength) {
        return GiveUp(trial::Verdict::kInvalidAnswer,
                      "the process wrote a line of more than 1 MiB");
      }
      if (stop.stop_requested()) {
        child_.reset();
        return std::nullopt;
      }
      if (base::MonotonicSeconds() >= deadline) {
        return GiveUp(trial::Verdict::kTimeout,
                      fmt::format("no answer after {:g} s{}", timeout_, timeout_text_));
      }
      if (!Transfer(request, deadline, held_back > 0 ? kReadingInterval : kPollInterval)) {
        const std::optional<base::ExitStatus> status = child_->Wait(1);
        if (status && memory_->WasKilled(*status)) {
          child_.reset();
          throw SystemError("the system ran out of memory and killed the process");
        }
        if (status && status->exceeded_memory) {
          return GiveUp(trial::Verdict::kMemory,
                        fmt::format("the process uses more than {:.0f} MB",
                                    static_cast<double>(options_.memory_limit_bytes) / 1e6));
        }
        return GiveUp(trial::Verdict::kCrash,
                      fmt::format("the process ended without an answer: {}",
                                  status ? status->Describe() : "it closed its output"));
      }
    }
  }

  /// Whether an answer repeats, under "configuration", what was asked for before this question.
  bool AnswersEarlier(std::string_view line, const nlohmann::json& question) const {
    const nlohmann::json answer = base::ParseJsonOrDiscard(line);
    const auto repeated = answer.find("configuration");
    return repeated != answer.end() && *repeated != question &&
           std::ranges::find(asked_, *repeated) != asked_.end();
  }

  Status Start() {
    const base::Command command = filler_.Fill();
    base::SubprocessOptions options;
    options.arguments = command.arguments;
    options.standard_input = base::ChildStream::kPipe;
    options.standard_output = base::ChildStream::kPipe;
    options.directory = command.directory;
    options.environment = command.environment;
    options.memory_limit_bytes = options.resident_limit_bytes = command.memory_limit_bytes;
    options.sandbox = command.sandbox;
    options.preferred_oom_victim = true;
    memory_.emplace();
    Result<base::Subprocess> started = base::Subprocess::Start(options);
    if (!started) return started.error();
    child_.emplace(*std::move(started));
    answered_ = false;
    asked_.clear();
    for (const int end : {child_->input(), child_->output()}) fcntl(end, F_SETFL, O_NONBLOCK);
    return Ok();
  }

  /// Once; not of what the process wrote before its first answer, such as a greeting.
  void TellOfLateLine(const std::string& line) {
    if (!answered_ || std::exchange(told_of_late_line_, true)) return;
    notices_->Add(fmt::format(
        "the process wrote '{}' after its answer: such lines answer nothing and are left out",
        base::SingleLine(line)));
  }

  /// Whether the process has read all that was written to it.
  bool HasReadAll() const {
    int bytes = 0;
    return ioctl(child_->input(), FIONREAD, &bytes) == 0 && bytes == 0;
  }

  /// Lines that were written without being asked for are no answer to what comes now. What follows
  /// the last of them may be the beginning of one.
  void DropLines() {
    char buffer[65536];
    for (ssize_t bytes = 0; (bytes = read(child_->output(), buffer, sizeof(buffer))) > 0;) {
      unread_.append(buffer, static_cast<size_t>(bytes));
    }
    for (size_t end = 0; (end = unread_.find('\n')) != std::string::npos;) {
      TellOfLateLine(unread_.substr(0, end));
      unread_.erase(0, end + 1);
    }
  }

  trial::Outcome GiveUp(trial::Verdict verdict, std::string reason) {
    child_.reset();
    return trial::Outcome::Infeasible(verdict, std::move(reason));
  }

  /// Writes and reads what is available without waiting; false once the process reads or writes no
  /// more.
  bool Transfer(std::string_view& request, double deadline, double interval) {
    pollfd ends[2] = {{child_->output(), POLLIN, 0},
                      {request.empty() ? -1 : child_->input(), POLLOUT, 0}};
    const double patience = std::clamp(deadline - base::MonotonicSeconds(), 0.0, interval);
    const auto nanoseconds = static_cast<int64_t>(1e9 * patience) + 1;
    const timespec wait = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    ppoll(ends, 2, &wait, nullptr);
    if (!request.empty()) {
      const ssize_t bytes =
          base::WriteIgnoringSigpipe(child_->input(), request.data(), request.size());
      if (bytes > 0) request.remove_prefix(static_cast<size_t>(bytes));
      if (bytes < 0 && errno == EPIPE) return false;
      if (bytes < 0 && errno != EAGAIN && errno != EINTR) ThrowSystemError("write to");
    }
    char buffer[65536];
    const ssize_t bytes = read(child_->output(), buffer, sizeof(buffer));
    if (bytes > 0) unread_.append(buffer, static_cast<size_t>(bytes));
    if (bytes < 0 && errno != EAGAIN && errno != EINTR) ThrowSystemError("read from");
    return bytes != 0;
  }

  [[noreturn]] void ThrowSystemError(const char* what) {
    const std::string reason = std::strerror(errno);
    child_.reset();  // it is not known what it has received
    throw SystemError(fmt::format("cannot {} the process: {}", what, reason));
  }

  std::shared_ptr<const space::Space> space_;
  EvaluatorOptions options_;
  std::shared_ptr<const TimeLimit> limit_;
  std::shared_ptr<trial::Notices> notices_;
  double timeout_ = 0;  ///< of the evaluation, and what is said beside it
  std::string timeout_text_;
  CommandBuilder filler_;
  std::optional<base::Subprocess> child_;
  std::optional<base::OutOfMemoryWatch> memory_;  ///< of the child
  std::deque<nlohmann::json> asked_;              ///< of the child, the last ones
  std::string unread_;
  bool answered_ = false;  ///< a question, since it was started
  bool told_of_late_line_ = false;
};

}  // namespace

EvaluateConfiguration MakeProcessFunction(std::shared_ptr<const space::Space> space,
                                          const EvaluatorOptions& options,
                                          std::shared_ptr<const TimeLimit> limit,
                                          std::shared_ptr<trial::Notices> notices) {
  return [process = std::make_shared<ProcessEvaluator>(std::move(space), options, std::move(limit),
                                                       std::move(notices))](
             const space::Configuration& configuration, const std::stop_token& stop) {
    return process->Evaluate(configuration, stop);
  };
}

}  // namespace bayloom::search
