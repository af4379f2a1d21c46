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

#include "bayloom/acquisition/hypervolume_improvement.h"
#include "bayloom/acquisition/local_search.h"
#include "bayloom/acquisition/utility.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/model/incremental_predictor.h"
#include "bayloom/optimizer/bayes/candidate_pool.h"
#include "bayloom/optimizer/bayes/feasibility_model.h"
#include "bayloom/optimizer/bayes/features.h"
#include "bayloom/optimizer/bayes/initial_design.h"
#include "bayloom/optimizer/bayes/objective_model.h"
#include "bayloom/optimizer/bayes/prediction_memo.h"
#include "bayloom/optimizer/fresh_sampler.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// One for each parameter: a Gaussian process with cautious priors makes sense of so few, and makes
/// more of the trials that follow than chance does.
int DefaultInitialSamples(const space::Space& space);

/// Bayesian optimization (Hellsten et al. 2023, sec. 3 and 4): a few random configurations, then
/// always the one of most utility under a surrogate of the objective and, once a trial has failed,
/// a model of feasibility. Several surrogates take turns: one may predict no gain where
/// there is one, and would never evaluate there; another corrects it.
///
/// Every configuration of a small space is scored; in a large one a random sample is, from whose
/// best, and from the best known, local searches climb.
///
/// Several objectives have a surrogate each, and the utility is the expected hypervolume
/// improvement: a batch's configurations count as if they were on the front already, at the values
/// imagined for them.
///
/// With earlier tasks the beginning is what they let expect to be good, instead of random.
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

  // For a portfolio, of which the surrogates are some of the arms:

  /// The trials with the values of the first objective.
  const History& history() const { return histories_.front(); }
  /// Whether the random beginning goes on.
  bool IsSampling() const;
  /// As Ask(1), by the surrogate of that place.
  std::optional<space::Configuration> AskBy(size_t surrogate);
  /// As Ask(1) in the random beginning.
  std::optional<space::Configuration> AskAtRandom() { return Asked(Sample()); }
  /// Marks a configuration that another arm asks for as pending.
  void Expect(const space::Configuration& configuration);
  /// Takes that back: it may be asked for again.
  void Withdraw(const space::Configuration& configuration);
  /// What the first surrogate learns from elsewhere has changed: it learns all of it again.
  void Forget();
  /// What models the first objective, as it was at the last suggestion.
  const ObjectiveModel& objective() const { return surrogate_sets_.front().front().objective; }
  /// Of the candidates that one which the first surrogate expects to improve most on `best`, a
  /// value of the objective; not for several objectives. None when the surrogate failed or there
  /// are none.
  std::optional<space::Configuration> BestOf(std::span<const space::Configuration> candidates,
                                             double best);
  /// Not what is learnt to fail: below the least probability that may be demanded of a suggestion.
  bool MayBeFeasible(const space::Configuration& configuration) const;

 private:
  /// A surrogate of one objective, and what it makes of the pool.
  struct SurrogateSlot {
    ObjectiveModel objective;
    std::unique_ptr<model::IncrementalPredictor> watched_pool = nullptr;
    std::unique_ptr<model::Surrogate> imagined =
        nullptr;                               ///< with outcomes of pending configurations
    std::vector<double> imagined_values = {};  ///< of these, as the surrogate predicts
    PredictionMemo memo = PredictionMemo();    ///< of what is met outside of the pool

    /// Imagines outcomes of all pending configurations that have none yet.
    void Imagine(const History& history, const Features& features, PendingPolicy policy);
    /// The surrogate with these outcomes.
    const model::Surrogate& WithPending() const {
      return imagined ? *imagined : objective.surrogate();
    }
  };
  /// A surrogate of each objective.
  using SurrogateSet = std::vector<SurrogateSlot>;
  /// What a surrogate says of several configurations.
  struct Prediction {
    Eigen::VectorXd mean;
    Eigen::VectorXd variance;
  };

  /// The suggestion, or a random configuration where there is none; it is pending from now on.
  std::optional<space::Configuration> Asked(std::optional<space::Configuration> suggestion);
  std::optional<space::Configuration> Sample();
  /// At random; one whose canonical form is known only if no others are found.
  std::optional<space::Configuration> DrawFresh();
  /// None when the surrogate has nothing to say, or failed.
  std::optional<space::Configuration> TrySuggest(size_t surrogate);
  /// None when the surrogate has nothing to say. Throws FitFailure.
  std::optional<space::Configuration> Suggest(SurrogateSet& surrogate_set);
  /// Learns what is new. Throws FitFailure.
  void Learn(SurrogateSet& surrogate_set);
  void NoteFailure(const model::FitFailure& failure);
  /// Chooses what suggestions are worth by now.
  void PrepareUtility(const SurrogateSet& surrogate_set);
  /// The front on the scale of the predictions, and from where its hypervolume is measured.
  void PrepareHypervolume(const SurrogateSet& surrogate_set);
  /// Of the predictions of each objective. Throws FitFailure.
  void UtilitiesOf(std::span<const Prediction> predictions, std::span<double> utilities) const;
  void RefreshPool(bool learnt_anew);

  /// Adds priors and feasibility to the utilities.
  void WeightUtilities(std::span<const space::Configuration> configurations,
                       const model::RowMatrix& rows, std::span<double> utilities) const;
  void UtilitiesAt(SurrogateSet& surrogate_set,
                   std::span<const space::Configuration> configurations,
                   std::span<double> utilities);
  acquisition::Suggestion BestOfPool(const SurrogateSet& surrogate_set,
                                     std::vector<space::Configuration>& starts);
  /// Of what differs from the best known in a few parameters.
  acquisition::Suggestion BestNearBestKnown(SurrogateSet& surrogate_set);
  acquisition::Suggestion BestOfClimbs(SurrogateSet& surrogate_set,
                                       std::vector<space::Configuration> starts);
  void AddBestKnown(std::vector<space::Configuration>& starts);
  /// The places of the feasible trials that no other one dominates.
  std::vector<int> Front() const;

  BayesianOptions options_;
  int initial_samples_;
  space::CanonicalForm canonical_;
  base::RandomStream random_;
  InitialDesign initial_design_;
  std::vector<std::string> objectives_;
  std::vector<std::optional<double>> thresholds_;
  /// Of each objective its values; what is asked, and waited for, the first one knows.
  std::vector<History> histories_;
  FreshSampler sampler_;
  Features features_;
  std::vector<SurrogateSet> surrogate_sets_;
  FeasibilityModel feasibility_;
  std::vector<std::string> notices_;
  bool has_failed_ = false;  ///< the model, at the last suggestion
  std::optional<CandidatePool> pool_;
  bool pool_is_complete_ = false;
  bool has_prior_ = false;

  // Of the suggestion being made:
  acquisition::Utility utility_;                                    ///< of one objective
  std::optional<acquisition::HypervolumeImprovement> hypervolume_;  ///< of several
  std::vector<double> noise_;  ///< of each objective, variance that predictions leave out
  double feasibility_floor_ = 0;
};

}  // namespace bayloom::optimizer
