#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "bayloom/base/clock.h"
#include "bayloom/base/one_line.h"
#include "bayloom/base/write_ignoring_sigpipe.h"
#include "bayloom/external/evaluator_functions.h"
#include "bayloom/external/surroundings.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr double kGlance = 0.05;

/// A program that gets one configuration a line and answers each with a line. It is started when
/// first needed and again after it has died, hung or talked nonsense without end.
class ProcessEvaluator {
 public:
  ProcessEvaluator(std::shared_ptr<const Space> space, const EvaluatorOptions& options)
      : space_(space), options_(options), filler_(std::move(space), options) {}

  std::optional<Outcome> Evaluate(const Configuration& configuration, const std::stop_token& stop) {
    const double begun = MonotonicSeconds();
    std::optional<Outcome> outcome =
        Exchange(ToJson(*space_, configuration).dump() + "\n", begun + options_.timeout, stop);
    if (outcome) outcome->Set("measure_seconds", MonotonicSeconds() - begun);
    return outcome;
  }

 private:
  std::optional<Outcome> Exchange(std::string_view request, double deadline,
                                  const std::stop_token& stop) {
    // A process that answered in full and ended is no fault of this configuration.
    if (child_ && child_->Wait(0)) child_.reset();
    if (!child_) {
      if (Status started = Start(); !started) {
        return Outcome::Infeasible(Verdict::kCrash, started.error().message);
      }
    }
    DropUnread();
    while (true) {
      if (const size_t end = unread_.find('\n'); end != std::string::npos && request.empty()) {
        const std::string line = unread_.substr(0, end);
        if (const auto outcome = ParseAnswerLine(line, options_.answer)) return outcome;
        // Whatever comes next might be the answer that this should have been: begin anew.
        return GiveUp(
            Verdict::kInvalidAnswer,
            fmt::format("expected a number or a JSON object, found '{}'", InOneLine(line)));
      }
      if (unread_.size() > kLongestLine) {
        return GiveUp(Verdict::kInvalidAnswer, "the process wrote a line of more than 1 MiB");
      }
      if (stop.stop_requested()) {
        child_.reset();
        return std::nullopt;
      }
      if (MonotonicSeconds() >= deadline) {
        return GiveUp(Verdict::kTimeout, fmt::format("no answer after {:g} s", options_.timeout));
      }
      if (!Transfer(request, deadline)) {
        const std::optional<ExitStatus> status = child_->Wait(1);
        return GiveUp(Verdict::kCrash,
                      fmt::format("the process ended without an answer: {}",
                                  status ? status->Describe() : "it closed its output"));
      }
    }
  }

  Status Start() {
    const Command command = filler_.Fill();
    SubprocessOptions options;
    options.arguments = command.arguments;
    options.standard_input = ChildStream::kPipe;
    options.standard_output = ChildStream::kPipe;
    options.directory = command.directory;
    options.environment = command.environment;
    options.memory_limit_bytes = command.memory_limit_bytes;
    options.preferred_oom_victim = true;
    Result<Subprocess> started = Subprocess::Start(options);
    if (!started) return started.error();
    child_.emplace(*std::move(started));
    for (const int end : {child_->input(), child_->output()}) fcntl(end, F_SETFL, O_NONBLOCK);
    return Ok();
  }

  /// What was said without being asked is no answer to what comes now.
  void DropUnread() {
    unread_.clear();
    char buffer[65536];
    while (read(child_->output(), buffer, sizeof(buffer)) > 0) {
    }
  }

  Outcome GiveUp(Verdict verdict, std::string reason) {
    child_.reset();
    return Outcome::Infeasible(verdict, std::move(reason));
  }

  /// Writes and reads what can be had within a glance; false once the process reads or writes no
  /// more.
  bool Transfer(std::string_view& request, double deadline) {
    pollfd ends[2] = {{child_->output(), POLLIN, 0},
                      {request.empty() ? -1 : child_->input(), POLLOUT, 0}};
    const double patience = std::clamp(deadline - MonotonicSeconds(), 0.0, kGlance);
    poll(ends, 2, static_cast<int>(1000 * patience) + 1);
    if (!request.empty()) {
      const ssize_t bytes = WriteIgnoringSigpipe(child_->input(), request.data(), request.size());
      if (bytes > 0) request.remove_prefix(static_cast<size_t>(bytes));
      if (bytes < 0 && errno != EAGAIN && errno != EINTR) return false;
    }
    char buffer[65536];
    const ssize_t bytes = read(child_->output(), buffer, sizeof(buffer));
    if (bytes > 0) unread_.append(buffer, static_cast<size_t>(bytes));
    return bytes > 0 || (bytes < 0 && (errno == EAGAIN || errno == EINTR));
  }

  std::shared_ptr<const Space> space_;
  EvaluatorOptions options_;
  CommandFiller filler_;
  std::optional<Subprocess> child_;
  std::string unread_;
};

}  // namespace

EvaluateConfiguration MakeProcessFunction(std::shared_ptr<const Space> space,
                                          const EvaluatorOptions& options) {
  return [process = std::make_shared<ProcessEvaluator>(std::move(space), options)](
             const Configuration& configuration, const std::stop_token& stop) {
    return process->Evaluate(configuration, stop);
  };
}

}  // namespace bayloom
