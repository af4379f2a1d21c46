#include "bayloom/trial/command_trial.h"

#include <fmt/format.h>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"

namespace bayloom {
namespace {

/// What a shell exits with.
constexpr int kCommandNotFound = 127;

Outcome OutcomeOf(const CommandResult& result, const Command& command, const OutputReader& read) {
  if (result.end == CommandResult::End::kNotStarted) {
    return Outcome::Infeasible(Verdict::kCrash, result.start_error);
  }
  if (result.end == CommandResult::End::kTimedOut) {
    return Outcome::Infeasible(Verdict::kTimeout,
                               fmt::format("still running after {:g} s", command.timeout_seconds));
  }
  if (!result.status.Success()) {
    const std::string last = LastLine(result.error_output);
    return Outcome::Infeasible(Verdict::kCrash, fmt::format("{}{}{}", result.status.Describe(),
                                                            last.empty() ? "" : ": ", last));
  }
  return read(result.output);
}

}  // namespace

void MissingCommandGuard::Check(const CommandResult& result) {
  const bool is_missing = result.end == CommandResult::End::kNotStarted ||
                          (result.end == CommandResult::End::kExited && !result.status.signaled &&
                           result.status.code == kCommandNotFound);
  if (!is_missing) was_found_ = true;
  if (was_found_ || ++missing_ < kMaxMissing) return;
  throw InputError("the evaluator cannot be run: " +
                   (result.start_error.empty() ? LastLine(result.error_output)
                                               : result.start_error));
}

std::optional<Outcome> TryCommand(const Command& command, const OutputReader& read,
                                  const std::stop_token& stop, MissingCommandGuard& guard) {
  const double begun = MonotonicSeconds();
  const CommandResult result = RunCommand(command, stop);
  if (result.end == CommandResult::End::kStopped) return std::nullopt;
  guard.Check(result);
  Outcome outcome = OutcomeOf(result, command, read);
  outcome.Set("measure_seconds", MonotonicSeconds() - begun);
  return outcome;
}

}  // namespace bayloom
