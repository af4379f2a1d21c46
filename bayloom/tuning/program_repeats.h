// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/record/store.h"
#include "bayloom/run/repeat_options.h"
#include "bayloom/trial/budget.h"
#include "bayloom/tuning/gain_in_turns.h"
#include "bayloom/tuning/session.h"

namespace bayloom::tuning {

/// Measures the best few programs of a session's tasks again, each alone, beside the zero-trial one
/// and once the default program (FinalistsOf). One takes the place of the zero-trial program only
/// if it is clearly faster (Turns). In a session with several objectives those on the task's front
/// take part as well.
///
/// Each task's comparison is written to the store when it is complete; from then on Store::BestOf,
/// and so compiling and running, goes by it. What the session has compared since its last trial is
/// not compared again, so an interrupted run is resumed by another one.
class ProgramRepeats {
 public:
  /// Plans what probably fits into `seconds`: the best program of each task beside the default one,
  /// then more candidates; the tasks that a run of the whole spends most time on come first. All
  /// but `options` must outlive it.
  ProgramRepeats(record::Store& store, const Session& session, ProgramEvaluator& evaluator,
                 const run::RepeatOptions& options, double seconds);
  ~ProgramRepeats();

  /// Carries out what is planned; the budget's trials count for nothing. Ends like every run.
  trial::StopReason Run(const trial::Budget& budget,
                        const std::function<void(const run::RepeatStatus&)>& observer = {});
  /// Of the tasks whose zero-trial program took part; nullopt where none did.
  std::optional<GainInTurns> Gain() const;
  /// Why trials cannot be carried out, after an end by StopReason::kLost.
  const std::string& lost() const { return lost_; }

 private:
  class Comparison;

  std::vector<std::unique_ptr<Comparison>> comparisons_;
  std::string lost_;
};

}  // namespace bayloom::tuning
