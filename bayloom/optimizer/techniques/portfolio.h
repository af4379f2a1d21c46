// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/optimizer/bayes/bayesian_search.h"
#include "bayloom/optimizer/bayes/trust_regions.h"
#include "bayloom/optimizer/optimizer.h"
#include "bayloom/optimizer/techniques/bandit.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {

/// A Gaussian process that is helped out of basins. While it finds something better now and then,
/// it decides alone. The longer it has found nothing, the more of the trials go to whichever arm a
/// bandit chooses: the process itself, a random forest, trust regions around incumbents that
/// differ, crossover and mutation of the best, or hill climbing with restarts. An arm is
/// credited for new bests it has found in such times. All arms learn from all trials.
class Portfolio final : public Optimizer {
 public:
  /// `surrogates`: of the Gaussian process and of the forest.
  Portfolio(std::shared_ptr<const space::Space> space,
            std::span<const BayesianSearch::SurrogateFactory> surrogates,
            const OptimizerOptions& options);

  std::vector<space::Configuration> Ask(int n) override;
  bool gave_up() const override { return surrogates_.gave_up(); }
  std::vector<std::string> TakeNotices() override { return surrogates_.TakeNotices(); }
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override;

 private:
  static constexpr int kGaussianProcess = 0, kForest = 1, kRegions = 2, kTechniques = 3;

  /// Whether the bandit decides on the next trial.
  bool IsStuck();
  std::optional<space::Configuration> AskArm(int arm);
  std::optional<space::Configuration> AskRegions();
  std::optional<space::Configuration> AskTechnique(Technique& technique);

  space::CanonicalForm canonical_;
  base::RandomStream random_;
  BayesianSearch surrogates_;
  TrustRegions regions_;
  std::vector<std::unique_ptr<Technique>> techniques_;
  AucBandit bandit_;
  std::unordered_map<space::Configuration, int> asked_by_;  ///< arms, where the bandit chose
  size_t told_at_best_ = 0;  ///< trials told when the best known was found
};

}  // namespace bayloom::optimizer
