// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/command_trial.h"

#include <fmt/format.h>

#include "bayloom/base/clock.h"
#include "bayloom/base/job_limits.h"
#include "bayloom/base/result.h"
#include "bayloom/base/subprocess.h"

namespace bayloom::trial {
namespace {

/// A thread, the process with its guard and a shell's child; three pipes with room for a start, and
/// a scratch folder.
constexpr base::JobNeeds kWorkerNeeds = {.open_files = 10, .processes = 4};

/// What a shell exits with.
constexpr int kCommandNotFound = 127;

Outcome OutcomeOf(const base::CommandResult& result, const base::Command& command,
                  const OutputReader& read) {
  if (result.end == base::CommandResult::End::kNotStarted) {
    return Outcome::Infeasible(Verdict::kCrash, result.start_error);
  }
  if (result.end == base::CommandResult::End::kTimedOut) {
    return Outcome::Infeasible(Verdict::kTimeout,
                               fmt::format("still running after {:g} s", command.timeout_seconds));
  }
  if (result.end == base::CommandResult::End::kMemory) {
    return Outcome::Infeasible(Verdict::kMemory,
                               fmt::format("its processes together use more than {:.0f} MB",
                                           static_cast<double>(command.memory_limit_bytes) / 1e6));
  }
  if (!result.status.Success()) {
    const std::string last = base::LastLine(result.error_output);
    return Outcome::Infeasible(Verdict::kCrash, fmt::format("{}{}{}", result.status.Describe(),
                                                            last.empty() ? "" : ": ", last));
  }
  return read(result.output);
}

}  // namespace

void PrepareWorkers(int jobs, bool sandbox) {
  base::ReserveJobs(jobs, kWorkerNeeds);
  if (!sandbox) return;
  if (const Status allowed = base::CheckSandbox(); !allowed) {
    throw InputError(allowed.error().message);
  }
}

void MissingCommandGuard::Check(const base::CommandResult& result) {
  const bool is_missing = result.end == base::CommandResult::End::kNotStarted ||
                          (result.end == base::CommandResult::End::kExited &&
                           !result.status.signaled && result.status.code == kCommandNotFound);
  if (!is_missing) was_found_ = true;
  if (was_found_ || ++missing_ < kMaxMissing) return;
  throw InputError("the evaluator cannot be run: " + (result.start_error.empty()
                                                          ? base::LastLine(result.error_output)
                                                          : result.start_error));
}

std::optional<Outcome> TryCommand(const base::Command& command, const OutputReader& read,
                                  const std::stop_token& stop, MissingCommandGuard& guard) {
  const double begun = base::MonotonicSeconds();
  const base::CommandResult result = base::RunCommand(command, stop);
  if (result.end == base::CommandResult::End::kStopped) return std::nullopt;
  guard.Check(result);
  Outcome outcome = OutcomeOf(result, command, read);
  outcome.Set("measure_seconds", base::MonotonicSeconds() - begun);
  return outcome;
}

}  // namespace bayloom::trial
