// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/trial/trial_store.h"

namespace bayloom::record {

/// Where the next trial of a run goes: shared by the RunTrials of one run, which one thread uses.
class RunOrdinals {
 public:
  /// Goes on after the trials that the run has.
  RunOrdinals(Store& store, RunId run) : run_(run), next_(store.CountTrials(run)) {}

  RunId run() const { return run_; }
  /// The ordinal of the next trial; that many trials are written.
  int64_t next() const { return next_; }
  void Advance(int64_t trials) { next_ += trials; }

 private:
  RunId run_;
  int64_t next_;
};

struct RunTrialsOptions {
  TaskId task = 0;      ///< 0: none
  TargetId target = 0;  ///< 0: none
  /// Trials that end within this many seconds of the last write are held back and written together,
  /// which pays for trials of microseconds. 0: every trial is durable when Add returns.
  double hold_seconds = 0;
};

/// The trials of one task (or of no task) of one run in a store.
///
///     auto ordinals = std::make_shared<RunOrdinals>(store, run.id);
///     RunTrials first(store, ordinals, {.task = a, .target = target});
///     RunTrials second(store, ordinals, {.task = b, .target = target});
class RunTrials final : public trial::TrialStore {
 public:
  /// `store` must outlive it.
  RunTrials(Store& store, std::shared_ptr<RunOrdinals> ordinals, RunTrialsOptions options = {});
  /// Writes what is held back; what cannot be written is lost, as by a kill of the process.
  ~RunTrials() override;
  RunTrials(const RunTrials&) = delete;
  RunTrials& operator=(const RunTrials&) = delete;

  /// `ordinal` is not used: trials are numbered as they are written. A candidate without a key that
  /// the run has already is ignored; throws InputError for one with a key: another process that
  /// works on the same run has tried it.
  void Add(const trial::TrialRecord& trial) override;
  void Flush() override;

 private:
  Store& store_;
  std::shared_ptr<RunOrdinals> ordinals_;
  RunTrialsOptions options_;
  std::vector<StoredTrial> held_;
  double written_;  ///< when trials were written last
};

}  // namespace bayloom::record
