#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/cost/sample.h"
#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/space/outcome.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom {

/// A session's side of the store: what was written before, and what is written now.
///
/// Slots are written when they end; a slot that was cut off by the end of the process is found
/// again as the trials after the last written one.
class Journal {
 public:
  /// Begins a session; see SessionRecord for what is written.
  static Journal Begin(Store& store, TargetId target, const std::string& model,
                       const std::string& options, uint64_t seed);
  /// Goes on with a session. Throws InputError if the store does not have it or it was made for
  /// another target.
  static Journal Resume(Store& store, SessionId session, TargetId target);

  const SessionRecord& session() const { return session_; }
  /// The session's trials so far, in order, and the slots they belong to.
  const std::vector<Trial>& trials() const { return trials_; }
  const std::vector<Slot>& slots() const { return state_.slots; }
  /// Seconds spent when the last slot was written, and what on.
  double seconds() const { return state_.seconds; }
  const PhaseTimes& phases() const { return state_.phases; }
  /// Trials of the task by other sessions on this target, each program once.
  std::vector<Trial> EarlierTrials(TaskId task) const;

  /// Writes one trial; durable when it returns.
  void Record(TaskId task, const std::string& strategy, const Candidate& candidate,
              const Outcome& outcome);
  /// What is written down from the next slot on.
  void SetWeight(TaskId task, double weight) { state_.weights[task] = weight; }
  /// Ends a slot that began after the last written one. `seconds` and `phases` are those of the
  /// whole session.
  void EndSlot(TaskId task, double seconds, const PhaseTimes& phases,
               const std::optional<BatchMetrics>& metrics);
  void Finish();

 private:
  Journal(Store& store, SessionRecord session);
  void ReadState();

  Store* store_;
  SessionRecord session_;
  std::vector<Trial> trials_;  ///< those read when resuming
  SessionState state_;
  int64_t next_ordinal_ = 0;
  int64_t unfinished_slot_trials_ = 0;
};

}  // namespace bayloom
