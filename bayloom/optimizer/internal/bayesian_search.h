// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/acquisition/local_search.h"
#include "bayloom/acquisition/utility.h"
#include "bayloom/model/incremental_predictor.h"
#include "bayloom/optimizer/internal/candidate_pool.h"
#include "bayloom/optimizer/internal/feasibility_model.h"
#include "bayloom/optimizer/internal/features.h"
#include "bayloom/optimizer/internal/fresh_sampler.h"
#include "bayloom/optimizer/internal/objective_model.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// Bayesian optimization (Hellsten et al. 2023, sec. 3 and 4): a few random configurations, then
/// always the one of most utility under a surrogate of the objective and, once a trial has failed,
/// a model of feasibility. Several surrogates take turns: what one is wrong about, and would stay
/// wrong about, and predicts no gain in, another one looks at.
///
/// Every configuration of a small space is scored; in a large one a random sample is, from whose
/// best, and from the best known, local searches climb.
///
/// With earlier tasks the random beginning is a single configuration, the one expected to be best.
class BayesianSearch final : public Optimizer {
 public:
  using SurrogateFactory =
      std::function<std::unique_ptr<model::Surrogate>(const Features&, const BayesianOptions&)>;

  BayesianSearch(std::shared_ptr<const space::Space> space,
                 std::span<const SurrogateFactory> make_surrogates,
                 const OptimizerOptions& options);

  std::vector<space::Configuration> Ask(int n) override;
  bool gave_up() const override { return sampler_.gave_up(); }
  std::vector<std::string> TakeNotices() override { return std::exchange(notices_, {}); }
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override;

 private:
  /// A surrogate, and what it makes of the pool.
  struct SurrogateSlot {
    ObjectiveModel objective;
    std::unique_ptr<model::IncrementalPredictor> watched_pool = nullptr;
    std::unique_ptr<model::Surrogate> imagined =
        nullptr;  ///< with outcomes of pending configurations
    size_t imagined_pending = 0;

    /// The surrogate with outcomes imagined for all pending configurations.
    const model::Surrogate& WithPending(const Memory& memory, const Features& features,
                                        PendingPolicy policy);
  };

  bool IsSampling() const;
  std::optional<space::Configuration> Sample();
  /// At random; one whose canonical form is known only if no others are found.
  std::optional<space::Configuration> DrawFresh();
  /// None when the surrogate has nothing to say, or failed.
  std::optional<space::Configuration> TrySuggest();
  /// None when the surrogate has nothing to say. Throws FitFailure.
  std::optional<space::Configuration> Suggest();
  /// What was learnt is learnt again.
  void Forget();
  SurrogateSlot& NextSurrogate();
  void RefreshPool(bool learnt_anew);

  /// Adds priors and feasibility to the utilities.
  void WeightUtilities(std::span<const space::Configuration> configurations,
                       const model::RowMatrix& rows, std::span<double> utilities) const;
  acquisition::Suggestion BestOfPool(model::IncrementalPredictor& watched_pool,
                                     const model::Surrogate& surrogate,
                                     std::vector<space::Configuration>& starts);
  acquisition::Suggestion BestOfClimbs(const model::Surrogate& surrogate,
                                       std::vector<space::Configuration> starts);
  void AddBestKnown(std::vector<space::Configuration>& starts) const;

  BayesianOptions options_;
  int initial_samples_;
  space::CanonicalForm canonical_;
  std::optional<space::Configuration> expected_;  ///< the best one, judging by earlier tasks
  base::RandomStream random_;
  Memory memory_;
  FreshSampler sampler_;
  Features features_;
  std::vector<SurrogateSlot> advisers_;
  FeasibilityModel feasibility_;
  std::vector<std::string> notices_;
  bool has_failed_ = false;  ///< the model, at the last suggestion
  std::optional<CandidatePool> pool_;
  bool pool_is_complete_ = false;
  bool has_prior_ = false;

  acquisition::Utility utility_;  ///< of the suggestion being made
  double feasibility_floor_ = 0;  ///< of the suggestion being made
};

}  // namespace bayloom::optimizer
