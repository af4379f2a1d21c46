// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/internal/bayesian_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/acquisition/improvement.h"
#include "bayloom/model/fit_failure.h"

namespace bayloom::optimizer {
namespace {

using Eigen::VectorXd;

/// The best known trials that climb beside the best of the sample.
constexpr size_t kBestKnown = 3;
constexpr int kClimbSteps = 50;
/// Draws whose canonical forms are all known before one is asked for as it is.
constexpr int kMaxForms = 32;

/// One for each parameter: a Gaussian process with cautious priors makes sense of so few, and makes
/// more of the trials that follow than chance does.
int DefaultInitialSamples(const space::Space& space) {
  int varying = 0;
  for (int i = 0; i < space.size(); ++i) varying += space.parameter(i).Cardinality() != 1;
  return std::clamp(varying, 4, 12);
}

bool AnyPrior(const space::Space& space) {
  for (int i = 0; i < space.size(); ++i) {
    if (space.parameter(i).has_prior()) return true;
  }
  return false;
}

/// Logarithm of the product of the users' priors; what they call impossible is a millionth.
double LogPrior(const space::Space& space, const space::Configuration& configuration) {
  double log = 0;
  for (int i = 0; i < space.size(); ++i) {
    const space::Parameter& parameter = space.parameter(i);
    if (!parameter.has_prior()) continue;
    log += std::log(1e-6 + parameter.PriorDensity(configuration.coordinates[i]));
  }
  return log;
}

}  // namespace

BayesianSearch::BayesianSearch(std::shared_ptr<const space::Space> space,
                               std::span<const SurrogateFactory> make_surrogates,
                               const OptimizerOptions& options)
    : options_(options.bayesian),
      canonical_(options.canonical),
      random_(options.seed),
      memory_(space),
      sampler_(options_.sampling),
      features_(space, options_.features),
      feasibility_(features_),
      has_prior_(AnyPrior(*space)) {
  for (const SurrogateFactory& make : make_surrogates) {
    advisers_.push_back({ObjectiveModel(make(features_, options_), features_, options_.objective,
                                        options_.max_observations)});
  }
  const bool knows_others = !options.transfer.tasks.empty();
  initial_samples_ = options.initial_samples > 0 ? options.initial_samples
                     : knows_others              ? 1
                                                 : DefaultInitialSamples(*space);
  expected_ = PredictBest(features_, *space, options.transfer, random_);
  if (expected_ && canonical_) expected_ = canonical_(*expected_);
}

std::vector<space::Configuration> BayesianSearch::Ask(int n) {
  std::vector<space::Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<space::Configuration> next = IsSampling() ? Sample() : TrySuggest();
    if (!next) next = DrawFresh();
    if (!next) break;
    memory_.MarkAsked(*next);
    if (pool_) pool_->Take(*next);
    asked.push_back(std::move(*next));
  }
  return asked;
}

void BayesianSearch::Tell(const space::Configuration& configuration,
                          const trial::Outcome& outcome) {
  if (memory_.OutcomeOf(configuration) != nullptr) {
    Forget();
  }
  memory_.Record(configuration, outcome);
  if (pool_) pool_->Take(configuration);
  for (SurrogateSlot& adviser : advisers_) adviser.imagined.reset();
}

void BayesianSearch::Forget() {
  for (SurrogateSlot& adviser : advisers_) adviser.objective.Forget();
  feasibility_.Forget();
}

bool BayesianSearch::IsSampling() const {
  return memory_.best() == nullptr || memory_.known() < static_cast<size_t>(initial_samples_);
}

/// What earlier tasks let expect, or the default where there is one: it was chosen with care.
std::optional<space::Configuration> BayesianSearch::Sample() {
  if (expected_ && !memory_.Knows(*expected_)) return expected_;
  std::optional<space::Configuration> usual = memory_.space().Default();
  if (usual && !memory_.Knows(*usual)) return usual;
  return DrawFresh();
}

std::optional<space::Configuration> BayesianSearch::DrawFresh() {
  std::optional<space::Configuration> drawn = sampler_.Draw(memory_, random_);
  for (int i = 0; canonical_ && drawn && i < kMaxForms; ++i) {
    space::Configuration form = canonical_(*drawn);
    if (!memory_.Knows(form)) return form;
    drawn = sampler_.Draw(memory_, random_);
  }
  return drawn;
}

std::optional<space::Configuration> BayesianSearch::TrySuggest() {
  try {
    std::optional<space::Configuration> suggested = Suggest();
    has_failed_ = false;
    return suggested;
  } catch (const model::FitFailure& failure) {
    if (!std::exchange(has_failed_, true)) {
      notices_.push_back(std::string("the model of the objective failed (") + failure.what() +
                         "); configurations are drawn at random until it works again");
    }
    Forget();
    for (SurrogateSlot& adviser : advisers_) adviser.imagined.reset();
    return std::nullopt;
  }
}

std::optional<space::Configuration> BayesianSearch::Suggest() {
  SurrogateSlot& adviser = NextSurrogate();
  const bool learnt_anew = adviser.objective.Update(memory_, random_);
  if (std::optional<std::string> notice = adviser.objective.TakeNotice()) {
    notices_.push_back(*std::move(notice));
  }
  if (options_.learn_feasibility) feasibility_.Update(memory_, random_);
  RefreshPool(learnt_anew && &adviser == &advisers_.front());

  const model::Surrogate& surrogate = adviser.WithPending(memory_, features_, options_.pending);
  const int trials = static_cast<int>(memory_.known());
  utility_ = {.kind = options_.acquisition,
              .best = adviser.objective.Best(),
              .beta = acquisition::ConfidenceBeta(trials),
              .noise = options_.noise_free ? 0 : surrogate.NoiseVariance()};
  if (options_.trade_off) {
    utility_.best -= *options_.trade_off;
    utility_.beta = *options_.trade_off * *options_.trade_off;
  }
  feasibility_floor_ = feasibility_.is_needed() ? acquisition::DrawFeasibilityThreshold(
                                                      options_.feasibility_threshold, random_)
                                                : 0;
  std::vector<space::Configuration> starts;
  acquisition::Suggestion best = BestOfPool(*adviser.watched_pool, surrogate, starts);
  if (!pool_is_complete_ && options_.local_searches > 0) {
    AddBestKnown(starts);
    acquisition::Suggestion climbed = BestOfClimbs(surrogate, std::move(starts));
    if (climbed.utility > best.utility) best = std::move(climbed);
  }
  if (!best.exists()) return std::nullopt;
  return std::move(best.configuration);
}

BayesianSearch::SurrogateSlot& BayesianSearch::NextSurrogate() {
  return advisers_[memory_.known() % advisers_.size()];
}

void BayesianSearch::RefreshPool(bool learnt_anew) {
  if (pool_ && (pool_is_complete_ || !learnt_anew)) return;
  const space::Space& space = memory_.space();
  std::vector<space::Configuration> configurations;
  if (space.CountFeasible() <= options_.score_all_up_to) {
    pool_is_complete_ = true;
    space.ForEach([&](const space::Configuration& c) {
      configurations.push_back(c);
      return true;
    });
  } else {
    for (int i = 0; i < options_.random_candidates; ++i) {
      if (std::optional<space::Configuration> drawn = space.Sample(random_, options_.sampling)) {
        configurations.push_back(std::move(*drawn));
      }
    }
  }
  if (canonical_) {
    for (space::Configuration& c : configurations) c = canonical_(c);
  }
  pool_.emplace(std::move(configurations), features_);
  for (SurrogateSlot& adviser : advisers_) {
    adviser.watched_pool = adviser.objective.surrogate().TrackPredictions(pool_->rows());
  }
  for (const Observation& trial : memory_.trials()) pool_->Take(trial.configuration);
  for (const space::Configuration& pending : memory_.pending()) pool_->Take(pending);
}

const model::Surrogate& BayesianSearch::SurrogateSlot::WithPending(const Memory& memory,
                                                                   const Features& features,
                                                                   PendingPolicy policy) {
  const std::vector<space::Configuration>& pending = memory.pending();
  if (pending.empty()) return objective.surrogate();
  if (!imagined) {
    imagined = objective.surrogate().Clone();
    imagined_pending = 0;
  }
  const model::RowMatrix rows = features(std::span(pending).subspan(imagined_pending));
  imagined_pending = pending.size();
  VectorXd values, variance;
  if (policy == PendingPolicy::kBeliever) {
    imagined->Predict(rows, values, variance);
  } else {
    values = VectorXd::Constant(rows.rows(), objective.Best());
  }
  for (double& value : values) value = imagined->Untransform(value);
  imagined->Add(rows, values);
  return *imagined;
}

void BayesianSearch::WeightUtilities(std::span<const space::Configuration> configurations,
                                     const model::RowMatrix& rows,
                                     std::span<double> utilities) const {
  if (feasibility_.is_needed() && options_.learn_feasibility) {
    const VectorXd probabilities = feasibility_.Probability(rows);
    for (size_t i = 0; i < utilities.size(); ++i) {
      utilities[i] += acquisition::LogFeasibility(probabilities[static_cast<Eigen::Index>(i)],
                                                  feasibility_floor_);
    }
  }
  if (has_prior_ && options_.prior_weight > 0) {
    const double weight = options_.prior_weight / static_cast<double>(memory_.known());
    for (size_t i = 0; i < utilities.size(); ++i) {
      utilities[i] += weight * LogPrior(memory_.space(), configurations[i]);
    }
  }
  // The last bits differ with the alignment of memory, and must not decide between equals.
  for (double& utility : utilities) utility = static_cast<float>(utility);
}

acquisition::Suggestion BayesianSearch::BestOfPool(model::IncrementalPredictor& watched_pool,
                                                   const model::Surrogate& surrogate,
                                                   std::vector<space::Configuration>& starts) {
  VectorXd mean, variance;
  watched_pool.Predict(surrogate, mean, variance);
  if (!mean.allFinite() || !variance.allFinite()) {
    throw model::FitFailure("it predicts values that are not finite numbers");
  }
  std::vector<double> utilities(static_cast<size_t>(pool_->size()));
  for (size_t i = 0; i < utilities.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    utilities[i] = utility_(mean[row], variance[row]);
  }
  WeightUtilities(pool_->configurations(), pool_->rows(), utilities);

  std::vector<int> places;
  for (int i = 0; i < pool_->size(); ++i) {
    if (pool_->IsFree(i)) places.push_back(i);
  }
  const size_t count =
      std::min(places.size(), static_cast<size_t>(std::max(1, options_.local_searches)));
  std::partial_sort(places.begin(), places.begin() + static_cast<int64_t>(count), places.end(),
                    [&](int a, int b) {
                      return utilities[static_cast<size_t>(a)] > utilities[static_cast<size_t>(b)];
                    });
  for (size_t i = 0; i < count; ++i) starts.push_back(pool_->configuration(places[i]));
  if (count == 0) return {};
  return {starts.front(), utilities[static_cast<size_t>(places.front())]};
}

acquisition::Suggestion BayesianSearch::BestOfClimbs(const model::Surrogate& surrogate,
                                                     std::vector<space::Configuration> starts) {
  const auto utility = [&](std::span<const space::Configuration> configurations,
                           std::span<double> utilities) {
    const model::RowMatrix rows = features_(configurations);
    VectorXd mean, variance;
    surrogate.Predict(rows, mean, variance);
    for (size_t i = 0; i < utilities.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      utilities[i] = utility_(mean[row], variance[row]);
    }
    WeightUtilities(configurations, rows, utilities);
  };
  return acquisition::ClimbToBest(
      memory_.space(), utility, starts,
      [&](const space::Configuration& c) { return memory_.Knows(c); }, kClimbSteps, random_,
      canonical_);
}

void BayesianSearch::AddBestKnown(std::vector<space::Configuration>& starts) const {
  for (int place : memory_.Best(kBestKnown)) {
    starts.push_back(memory_.trials()[static_cast<size_t>(place)].configuration);
  }
}

}  // namespace bayloom::optimizer
