// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "bayloom/record/recorded_run.h"
#include "bayloom/record/store.h"
#include "bayloom/search/study.h"

namespace bayloom::search {

/// A study of a scenario that keeps every trial in a store before anything is learnt from it.
/// Kill the process anywhere: resumed, the study goes on with all trials that had ended. The
/// optimizer is then told them again in their order, so it may choose differently from there on
/// than in a study that was never interrupted, but nothing is tried twice.
class DurableStudy {
 public:
  /// With `resume`, goes on with the store's last study of a scenario of this name if there is
  /// one. `store` must outlive it. Throws InputError where its trials do not fit the scenario any
  /// more, or it looked for something else.
  DurableStudy(const Scenario& scenario, record::Store& store, bool resume);
  DurableStudy(const DurableStudy&) = delete;
  DurableStudy& operator=(const DurableStudy&) = delete;

  Study& study() { return *study_; }
  const Study& study() const { return *study_; }
  const record::RunRecord& record() const { return run_.record(); }
  bool resumed() const { return run_.resumed(); }
  /// The trials of before it was resumed, which the study knows.
  const std::vector<StudyTrial>& earlier() const { return earlier_; }
  void End(trial::StopReason reason) { run_.End(reason); }
  /// Notes that the study has reached a limit.
  void Finish() { run_.Finish(); }

 private:
  record::RecordedRun run_;
  std::vector<StudyTrial> earlier_;
  std::unique_ptr<record::RunTrials> trials_;
  std::unique_ptr<Study> study_;
};

/// For a run that goes on after so many trials: the stream of random choices goes on elsewhere
/// instead of over again.
uint64_t SeedAfter(uint64_t seed, size_t trials);

/// The study of this number. Throws InputError if there is none.
record::RunRecord FindStudy(record::Store& store, record::RunId id);

/// What was searched, as the record has it.
Scenario ScenarioOf(const record::RunRecord& record);

/// The trials of a study as the scenario's space reads them. Throws InputError where one does not
/// fit.
std::vector<StudyTrial> ReadStudyTrials(const space::Space& space, record::Store& store,
                                        record::RunId study);

}  // namespace bayloom::search
