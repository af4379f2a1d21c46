// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
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

/// The trials that no other one is at least as good as in all objectives (one of equal ones), the
/// best in the first objective first.
std::vector<StudyTrial> ParetoSet(std::span<const StudyTrial> trials,
                                  std::span<const Objective> objectives);

/// A search for the best configuration of a scenario: hands out configurations, takes outcomes,
/// knows the best.
///
///     for (const Configuration& configuration : study.Ask(4))
///       study.Tell(configuration, Evaluate(configuration), seconds);
///
/// With several objectives the result is a Pareto set.
///
/// Trials of lower fidelities (OptimizerOptions::fidelity) are counted and learnt from, and nothing
/// else: they are neither the best nor on the front, and no stop rule looks at them.
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
  /// As Optimizer::TakeNotices, and what is strange about the scenario.
  std::vector<std::string> TakeNotices();
  /// Records, then learns. `elapsed` as in StudyTrial. A configuration that was told before is
  /// refused: false, and nothing changes. Throws what the store throws, and InputError where an
  /// objective has no value.
  bool Tell(const space::Configuration& configuration, const trial::Outcome& outcome,
            double elapsed);
  /// Learns of a trial that is in the store already.
  void Learn(const space::Configuration& configuration, const trial::Outcome& outcome,
             double elapsed);
  /// What the store keeps of a configuration.
  trial::TrialRecord RecordOf(const space::Configuration& configuration) const;

  /// As Scenario::IsFull.
  bool IsFull(const space::Configuration& configuration) const {
    return !has_fidelities_ || optimizer::IsLastFidelity(*space_, configuration);
  }
  int64_t trials() const { return trials_; }
  int64_t feasible_trials() const { return feasible_trials_; }
  /// The best in the first objective.
  const std::optional<StudyTrial>& best() const { return best_; }
  /// The trials that no other one dominates, the best in the first objective first.
  const std::vector<StudyTrial>& front() const { return front_; }
  /// Ordinal of the last trial that improved the best, or the front of several objectives; -1:
  /// none.
  int64_t last_improvement() const { return last_improvement_; }
  /// Whether the scenario's stop rules end it.
  const StopRuleWatch& stop() const { return stop_; }
  /// The last trial told.
  const std::optional<StudyTrial>& last() const { return last_; }
  double elapsed() const { return last_ ? last_->elapsed : 0; }
  const space::Space& space() const { return *space_; }
  bool maximize() const { return objectives_[0].maximize; }
  const std::vector<Objective>& objectives() const { return objectives_; }
  trial::TrialStore* store() const { return store_; }

 private:
  /// Takes the last trial into account for what is best. `point`: its values, if it is feasible.
  void Judge(const std::optional<pareto::Point>& point);
  /// Takes the last trial into the front, unless it is dominated: false.
  bool ExtendFront();

  std::shared_ptr<const space::Space> space_;
  bool has_fidelities_;
  std::vector<Objective> objectives_;
  std::deque<space::Configuration> first_;  ///< to be asked for before the optimizer chooses
  std::string proposer_;                    ///< the optimizer's name
  std::vector<std::string> notices_;        ///< not taken yet
  std::unique_ptr<optimizer::Optimizer> optimizer_;
  trial::TrialStore* store_;
  std::unordered_set<space::Configuration> asked_;
  std::unordered_set<space::Configuration> told_;
  int64_t trials_ = 0;
  int64_t feasible_trials_ = 0;
  std::optional<StudyTrial> best_;
  std::optional<StudyTrial> last_;
  std::vector<StudyTrial> front_;
  int64_t last_improvement_ = -1;
  StopRuleWatch stop_;
};

}  // namespace bayloom::external
