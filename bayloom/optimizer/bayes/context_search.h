// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/acquisition/utility.h"
#include "bayloom/optimizer/bayes/context_model.h"
#include "bayloom/optimizer/bayes/history.h"
#include "bayloom/optimizer/contexts.h"
#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// Bayesian optimization in one of several contexts by the model of all of them: what is expected
/// to improve most on the best in this context. Every fourth trial is the most promising of what is
/// best in another context, so that it is known how well few configurations serve many contexts.
class ContextSearch final : public Optimizer {
 public:
  ContextSearch(std::shared_ptr<const space::Space> space, const OptimizerOptions& options);

  std::vector<space::Configuration> Ask(int n) override;
  bool gave_up() const override { return sampler_.gave_up(); }
  std::vector<std::string> TakeNotices() override { return std::exchange(notices_, {}); }
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override;

 private:
  const space::Space& space() const { return history_.space(); }
  space::Configuration Joint(space::Configuration own) const;
  /// The configuration of another context here; nullopt where it is not in the space.
  std::optional<space::Configuration> Own(space::Configuration joint) const;

  std::optional<space::Configuration> AskOne();
  std::optional<space::Configuration> Begin();
  /// None where there is nothing to be said. Throws FitFailure.
  std::optional<space::Configuration> Suggest();
  /// What is best in other contexts and was not tried here.
  std::vector<space::Configuration> BestElsewhere() const;
  /// Of many, those with the least means and some others.
  std::vector<space::Configuration> Shortlist(std::vector<space::Configuration> candidates);
  void PrepareUtility();
  void UtilitiesAt(std::span<const space::Configuration> configurations,
                   std::span<double> utilities) const;
  std::optional<space::Configuration> BestOf(
      const std::vector<space::Configuration>& candidates) const;
  std::optional<space::Configuration> BestOfAll();
  std::optional<space::Configuration> BestOfClimbs(std::vector<space::Configuration> starts);

  ContextOptions context_;
  ContextModel& model_;
  int number_;  ///< of the context
  BayesianOptions options_;
  int initial_samples_;
  base::RandomStream random_;
  History history_;
  FreshSampler sampler_;
  bool has_prior_;
  std::vector<std::string> notices_;
  bool has_failed_ = false;
  std::optional<std::vector<space::Configuration>> all_;  ///< of a small space

  // Of the suggestion being made:
  acquisition::Utility utility_;
  double feasibility_floor_ = 0;
  std::unique_ptr<model::Surrogate> imagined_;  ///< with what is being evaluated
};

}  // namespace bayloom::optimizer
