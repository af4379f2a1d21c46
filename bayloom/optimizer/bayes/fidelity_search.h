// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/optimizer/bayes/bayesian_search.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/bayes/history.h"
#include "bayloom/optimizer/bayes/objective_model.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// Bayesian optimization of an objective that can be evaluated at several fidelities, the last of
/// which counts: smaller inputs, fewer repetitions. A configuration is one of the space without the
/// fidelity, then the place of its fidelity.
///
/// Each fidelity has a surrogate that builds on that of the one below (AutoregressiveSurrogate).
/// The configuration is the one that "bayesian" would ask for, by what all fidelities say of the
/// last one. It is evaluated where a second is worth most: each fidelity explains a share of the
/// variance of the last one's values, and takes its mean time (as Huang et al. 2006 weigh
/// correlation against cost).
///
/// What fails at a fidelity is not tried at higher ones, and teaches all which configurations fail.
class FidelitySearch final : public Optimizer {
 public:
  FidelitySearch(std::shared_ptr<const space::Space> space, const OptimizerOptions& options);

  std::vector<space::Configuration> Ask(int n) override;
  bool gave_up() const override { return full_->gave_up(); }
  std::vector<std::string> TakeNotices() override { return full_->TakeNotices(); }
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override;

 private:
  /// A fidelity below the last one.
  struct Level {
    History history;
    ObjectiveModel objective;
  };
  struct Cost {
    double seconds = 0;  ///< of all its trials
    int trials = 0;
  };

  int last() const { return static_cast<int>(lower_.size()); }
  const History& MemoryAt(int level) const {
    return level == last() ? full_->history() : lower_[static_cast<size_t>(level)]->history;
  }
  std::optional<space::Configuration> AskOne();
  /// The best of the fidelity below that was not asked for at this one.
  std::optional<space::Configuration> Promoted(int level) const;
  /// The least fidelity that it was not asked for at.
  int LowestUnknown(const space::Configuration& configuration) const;
  const ObjectiveModel& ObjectiveAt(int level) const;
  /// How much of the variance of the fidelity above a trial explains, by the trials at both.
  double ShareOf(int level) const;
  /// Where the configuration is worth most a second.
  int ChooseLevel(const space::Configuration& configuration) const;
  /// Mean seconds of a trial.
  double CostOf(int level) const;
  /// Brings the surrogates of the lower fidelities up to date; false if there is one without.
  bool Learn();
  space::Configuration AskAt(int level, const space::Configuration& configuration);

  std::shared_ptr<const space::Space> space_;
  OptimizerOptions options_;  ///< of the last fidelity
  std::shared_ptr<const space::Space> base_;
  int initial_samples_;
  base::RandomStream random_;
  Features features_;
  std::vector<std::unique_ptr<Level>> lower_;
  std::unique_ptr<BayesianSearch> full_;
  std::vector<Cost> costs_;
  int stale_from_ = 0;  ///< the least fidelity that has not learnt from all its trials
};

}  // namespace bayloom::optimizer
