// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/remote/messages.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::remote {

struct PoolOptions {
  /// One for each worker, run by a shell: "ssh board bayloom worker".
  std::vector<std::string> commands;
  /// A worker that gives no sign of life for so long is given up. Time in which this process does
  /// not listen is not counted.
  double silence_seconds = 15;
  /// How long a worker may take to say hello. What never does is left out.
  double start_seconds = 60;
  /// How long it may take to measure its machine, or to be ready for a subject.
  double preparation_seconds = 300;
  /// A worker that is alive, but owes an answer for so long, is told of, once.
  double notice_seconds = 60;
  /// A worker that has ended is started again after this pause, which doubles each time; once it
  /// has ended so many times in a row without a trial in between, it is left out.
  double restart_seconds = 0.25;
  int max_failures = 6;
  /// How much longer than the fastest worker one may take for the same candidate.
  double max_drift = 0.05;
  /// Trials of each worker after which that is looked at; 0: never.
  int drift_interval = 32;
  /// What a person should know of a worker, one line each.
  std::function<void(const std::string&)> on_notice;
  /// Fails for a description of a machine that none can have, saying why; may be null.
  std::function<Status(const nlohmann::json&)> check_machine;
  std::function<bool()> stop;  ///< asked while workers are awaited at the beginning
};

/// Workers: processes on this and other machines that try candidates, each a command that speaks
/// the protocol of docs/workers.md. Not thread safe.
///
/// A trial is with one worker at a time. If that ends, gives no sign of life, or owes an answer for
/// too long, the trials that it had are lost, their leases are over, and it is started again; what
/// it or its successor says of those leases is dropped. Whether a lost trial is tried again is for
/// the caller to decide (run::ScheduledRun: twice). Only workers of one version and identity are
/// together; others are left out, as are those that cannot be started, and slow ones: after every
/// so many trials, and when a worker joins, all measure the best candidate again.
class WorkerPool {
 public:
  /// Starts the workers and waits for them. Throws InputError where none can be used, saying why,
  /// and SystemError where there can be no further process.
  explicit WorkerPool(PoolOptions options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// What all workers say of themselves.
  const Report& hello() const;
  /// Those that are not left out.
  int workers() const;
  /// Has a worker measure its machine, and waits for it.
  Result<nlohmann::json> MeasureMachine();

  /// Something to try candidates of; `is_timed`: values are times that depend on the machine, so
  /// that drift is followed. A worker that has trials of it and answers none for so many seconds is
  /// given up; infinity: trials may take any time.
  SubjectId AddSubject(nlohmann::json definition, bool is_timed, double answer_seconds);
  /// Trials of the subject that the workers take at a time, as far as they have said; at least 1.
  int Slots(SubjectId subject) const;
  /// Queues a trial.
  void Submit(SubjectId subject, trial::TrialId id, nlohmann::json candidate, bool is_repeat);
  /// As trial::Evaluator's; once no worker is left, all trials are lost. Throws InputError where a
  /// worker cannot go on trying candidates of a subject.
  std::vector<trial::FinishedTrial> Collect(double wait_seconds, const std::function<bool()>& stop);
  void Cancel();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bayloom::remote
