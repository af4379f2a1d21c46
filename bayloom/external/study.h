// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "bayloom/external/scenario.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/trial/outcome.h"
#include "bayloom/trial/trial_store.h"

namespace bayloom::external {

/// One evaluation of a study, in the evaluator's own terms: the value as it was answered.
struct StudyTrial {
  int64_t ordinal = 0;  ///< from 0
  space::Configuration configuration;
  trial::Outcome outcome;
  double elapsed = 0;  ///< seconds of searching until it ended, earlier runs of the study included
};

/// A search for the best configuration of a scenario: hands out configurations, takes outcomes,
/// knows the best.
///
///     for (const Configuration& configuration : study.Ask(4))
///       study.Tell(configuration, Evaluate(configuration), seconds);
///
/// Optimizers minimize; where the scenario maximizes, values are negated on their way to the
/// optimizer and nowhere else.
class Study {
 public:
  /// `store` keeps what is told; null: nothing is kept. It must outlive the study.
  Study(const Scenario& scenario, std::unique_ptr<optimizer::Optimizer> optimizer,
        trial::TrialStore* store = nullptr);

  /// Up to `n` configurations to try: the scenario's default first, then the optimizer's choice.
  /// Fewer when there are no more.
  std::vector<space::Configuration> Ask(int n);
  /// Whether the last Ask gave fewer because no more were found with bounded effort.
  bool gave_up() const { return optimizer_->gave_up(); }
  /// As Optimizer::TakeNotices.
  std::vector<std::string> TakeNotices() { return optimizer_->TakeNotices(); }
  /// Records, then learns. `elapsed` as in StudyTrial. A configuration that was told before is
  /// refused: false, and nothing changes. Throws what the store throws.
  bool Tell(const space::Configuration& configuration, const trial::Outcome& outcome,
            double elapsed);
  /// Learns of a trial that is in the store already.
  void Learn(const space::Configuration& configuration, const trial::Outcome& outcome,
             double elapsed);
  /// What the store keeps of a configuration.
  trial::TrialRecord RecordOf(const space::Configuration& configuration) const;

  int64_t trials() const { return trials_; }
  int64_t feasible_trials() const { return feasible_trials_; }
  const std::optional<StudyTrial>& best() const { return best_; }
  /// The last trial told.
  const std::optional<StudyTrial>& last() const { return last_; }
  double elapsed() const { return last_ ? last_->elapsed : 0; }
  const space::Space& space() const { return *space_; }
  bool maximize() const { return maximize_; }
  trial::TrialStore* store() const { return store_; }

 private:
  std::shared_ptr<const space::Space> space_;
  bool maximize_;
  std::optional<space::Configuration> first_;  ///< the default, until it is asked for
  std::string proposer_;                       ///< the optimizer's name
  std::unique_ptr<optimizer::Optimizer> optimizer_;
  trial::TrialStore* store_;
  std::unordered_set<space::Configuration> asked_;
  std::unordered_set<space::Configuration> told_;
  int64_t trials_ = 0;
  int64_t feasible_trials_ = 0;
  std::optional<StudyTrial> best_;
  std::optional<StudyTrial> last_;
};

}  // namespace bayloom::external
