// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "bayloom/base/run_command.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::trial {

/// To be called before so many workers try candidates by commands or processes. Throws InputError
/// where this machine cannot run them at the same time (see base::ReserveJobs) or, if they are to
/// be sandboxed, does not allow that.
void PrepareWorkers(int jobs, bool sandbox);

/// What a command's standard output means.
using OutputReader = std::function<Outcome(const std::string& output)>;

/// Notices a command that is not there at all: nothing it should have tried says anything about the
/// candidates then. Of use to several threads.
class MissingCommandGuard {
 public:
  /// Throws InputError once the first kMaxMissing trials in a row found no program to run.
  void Check(const base::CommandResult& result);

 private:
  static constexpr int kMaxMissing = 4;

  std::atomic<int> missing_ = 0;
  std::atomic<bool> was_found_ = false;
};

/// Tries a candidate by a command: the outcome that `read` makes of its output if it ends in order,
/// else infeasible with how it ended and the last line that it wrote to standard error. The named
/// value "measure_seconds" is how long it took. nullopt if it was stopped before it ended.
///
/// All that a command leaves running is killed, and its limits of time and memory hold; so
/// all evaluators are treated the same. Throws SystemError where no process can be made,
/// and what the guard throws.
std::optional<Outcome> TryCommand(const base::Command& command, const OutputReader& read,
                                  const std::stop_token& stop, MissingCommandGuard& guard);

}  // namespace bayloom::trial
