// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/measure/measurement_details.h"
#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/programs_by_size.h"
#include "bayloom/tuning/tuning_task.h"

namespace bayloom::tuning {

/// A recorded program of a task that may be the best.
struct Finalist {
  sketch::Candidate candidate;
  std::vector<SmallCandidate> small = {};  ///< used beside it, where axes are open
  record::RunId trial_run = 0;             ///< of its trial; 0: the default program, which has none
  int64_t trial = 0;
  double seconds = 0;                        ///< as Store::BestOf has it
  measure::MeasurementDetails details = {};  ///< of the trial

  bool IsOfTrialOf(const Finalist& other) const {
    return trial_run == other.trial_run && trial == other.trial;
  }
};

/// What a comparison of a task's programs begins with: its zero-trial program, if that was tried
/// and has a time, then the best others, at most `count`, best first. One takes part if its time
/// differs from the best by no more than noise explains: the spread and drift of both, at least 5 %
/// each. Where axes are open, it is the fastest sets of programs (FastestSets).
std::vector<Finalist> FinalistsOf(record::Store& store, const TuningTask& task,
                                  record::TargetId target, int count);

}  // namespace bayloom::tuning
