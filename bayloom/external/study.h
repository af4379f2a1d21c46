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

namespace bayloom {

/// One evaluation of a study, in the evaluator's own terms: the value as it was answered.
struct StudyTrial {
  int64_t ordinal = 0;  ///< from 0
  Configuration configuration;
  Outcome outcome;
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
  /// `store` keeps what is told; null: nobody does. It must outlive the study.
  Study(const Scenario& scenario, std::unique_ptr<Optimizer> optimizer,
        TrialStore* store = nullptr);

  /// Up to `n` configurations to try: the scenario's default first, then the optimizer's choice.
  /// Fewer when there are no more.
  std::vector<Configuration> Ask(int n);
  /// Records, then learns. `elapsed` as in StudyTrial. A configuration that was told before is
  /// refused: false, and nothing changes. Throws what the store throws.
  bool Tell(const Configuration& configuration, const Outcome& outcome, double elapsed);
  /// Learns of a trial that is in the store already.
  void Learn(const Configuration& configuration, const Outcome& outcome, double elapsed);
  /// What the store keeps of a configuration.
  TrialRecord RecordOf(const Configuration& configuration) const;

  int64_t trials() const { return trials_; }
  int64_t feasible_trials() const { return feasible_trials_; }
  const std::optional<StudyTrial>& best() const { return best_; }
  /// The last trial told.
  const std::optional<StudyTrial>& last() const { return last_; }
  double elapsed() const { return last_ ? last_->elapsed : 0; }
  const Space& space() const { return *space_; }
  bool maximize() const { return maximize_; }
  TrialStore* store() const { return store_; }

 private:
  std::shared_ptr<const Space> space_;
  bool maximize_;
  std::optional<Configuration> first_;  ///< the default, until it is asked for
  std::string proposer_;                ///< the optimizer's name
  std::unique_ptr<Optimizer> optimizer_;
  TrialStore* store_;
  std::unordered_set<Configuration> asked_;
  std::unordered_set<Configuration> told_;
  int64_t trials_ = 0;
  int64_t feasible_trials_ = 0;
  std::optional<StudyTrial> best_;
  std::optional<StudyTrial> last_;
};

}  // namespace bayloom
