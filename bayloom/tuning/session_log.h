// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/cost/sample.h"
#include "bayloom/record/recorded_run.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom::tuning {

/// A session's side of the store: what was written before, and what is written now.
///
/// Slots are written when they end; a slot that was cut off by the end of the process is found
/// again as the trials after the last written one.
class SessionLog {
 public:
  /// Begins a session; `kind`, `name`, `definition` and `seed` of the record say of what.
  static SessionLog Begin(record::Store& store, record::TargetId target, record::RunRecord record);
  /// Goes on with a session. Throws InputError if the store does not have it or it was made for
  /// another target.
  static SessionLog Resume(record::Store& store, record::RunId session, record::TargetId target);

  const record::RunRecord& session() const { return run_.record(); }
  /// The session's trials so far, in order, and the slots they belong to.
  const std::vector<record::StoredTrial>& trials() const { return trials_; }
  const std::vector<Slot>& slots() const { return state_.slots; }
  /// Seconds spent when the last slot was written, and what on.
  double seconds() const { return state_.seconds; }
  const run::PhaseTimes& phases() const { return state_.phases; }
  /// Trials of the task by other sessions on this target, each program once.
  std::vector<record::StoredTrial> EarlierTrials(record::TaskId task) const;

  /// Where a task's trials are written. The store must outlive it.
  std::unique_ptr<trial::TrialStore> TrialsOf(record::TaskId task);
  /// What is written down from the next slot on.
  void SetWeight(record::TaskId task, double weight) { state_.weights[task] = weight; }
  /// The same of what its zero-trial program is estimated to take.
  void SetEstimate(record::TaskId task, double seconds) { state_.estimates[task] = seconds; }
  /// Ends a slot of so many trials that began after the last written one. `seconds` and `phases`
  /// are those of the whole session.
  void EndSlot(record::TaskId task, int64_t trials, double seconds, const run::PhaseTimes& phases,
               const std::optional<cost::BatchMetrics>& metrics);
  /// Writes down what tuning has brought.
  void SetGain(const GainInTurns& gain);
  const std::optional<GainInTurns>& gain() const { return state_.gain; }
  void End(trial::StopReason reason) { run_.End(reason); }
  void Finish() { run_.Finish(); }

 private:
  SessionLog(record::Store& store, record::RecordedRun run);
  void ReadState();
  /// Throws InputError unless the trials of each slot are those of its task.
  void CheckSlots() const;
  [[noreturn]] void RefuseToResume(const std::string& reason) const;

  record::Store* store_;
  record::RecordedRun run_;
  std::vector<record::StoredTrial> trials_;  ///< those read when resuming
  SessionState state_;
};

}  // namespace bayloom::tuning
