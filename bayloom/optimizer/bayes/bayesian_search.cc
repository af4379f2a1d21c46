// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/bayesian_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bayloom/acquisition/improvement.h"
#include "bayloom/base/single_line.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/optimizer/bayes/objective_values.h"
#include "bayloom/optimizer/bayes/user_prior.h"
#include "bayloom/optimizer/draw_near.h"
#include "bayloom/pareto/front.h"

namespace bayloom::optimizer {
namespace {

using Eigen::VectorXd;

/// The best known trials that climb beside the best of the sample.
constexpr size_t kBestKnown = 3;
constexpr int kClimbSteps = 50;
/// Observations from which on it takes longer to predict than to remember.
constexpr int kMinRemembered = 150;
/// Draws whose canonical forms are all known before one is asked for as it is.
constexpr int kMaxForms = 32;
/// From so many parameters on, random configurations are nowhere near what is good, and a surrogate
/// of some hundred trials knows little of what differs from all of these in many parameters.
constexpr int kManyParameters = 40;
/// What is drawn near the default in the beginning differs from it in this share of them.
constexpr double kBeginningShare = 0.1;
/// So much is drawn near the best known, and differs from it in this share of them: among 400 in as
/// many as in TuRBO (Eriksson et al. 2019), and always in a few.
constexpr size_t kNearCandidates = 500;
double NearShare(const space::Space& space) { return std::max(0.05, 4.0 / space.size()); }
/// So many times a front's range behind it hypervolume is counted from thresholds, no further:
/// noise in one objective counts times the distance in the others there.
constexpr double kMarginOfThresholds = 1;

}  // namespace

int DefaultInitialSamples(const space::Space& space) {
  int varying = 0;
  for (int i = 0; i < space.size(); ++i) varying += space.parameter(i).Cardinality() != 1;
  return std::clamp(varying, 4, 12);
}

BayesianSearch::BayesianSearch(std::shared_ptr<const space::Space> space,
                               std::span<const SurrogateFactory> make_surrogates,
                               const OptimizerOptions& options)
    : options_(options.bayesian),
      canonical_(options.canonical),
      random_(options.seed),
      objectives_(options.objectives),
      thresholds_(options.thresholds),
      histories_(objectives_.size(), History(space)),
      sampler_(options_.sampling),
      features_(space, options_.features),
      feasibility_(features_),
      has_prior_(AnyPrior(*space)) {
  for (const SurrogateFactory& make : make_surrogates) {
    SurrogateSet& surrogate_set = surrogate_sets_.emplace_back();
    for (size_t k = 0; k < objectives_.size(); ++k) {
      surrogate_set.push_back(
          {ObjectiveModel(make(features_, options_), features_, options_.objective,
                          objectives_.size() > 1, options_.max_observations)});
    }
  }
  for (const std::string& name : options.transfer.left_out) {
    notices_.push_back(fmt::format("{}: left out, as its values do not depend on its parameters",
                                   base::SingleLine(name, 100)));
  }
  initial_design_ = InitialDesign(features_, *space, options.transfer, canonical_, random_);
  const bool knows_others = !options.transfer.tasks.empty();
  initial_samples_ = options.initial_samples > 0 ? options.initial_samples
                     : knows_others              ? std::max(1, initial_design_.size())
                                                 : DefaultInitialSamples(*space);
}

std::vector<space::Configuration> BayesianSearch::Ask(int n) {
  std::vector<space::Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<space::Configuration> next = AskBy(history().known() % surrogate_sets_.size());
    if (!next) break;
    asked.push_back(std::move(*next));
  }
  return asked;
}

std::optional<space::Configuration> BayesianSearch::AskBy(size_t surrogate) {
  return IsSampling() ? AskAtRandom() : Asked(TrySuggest(surrogate));
}

std::optional<space::Configuration> BayesianSearch::Asked(
    std::optional<space::Configuration> suggestion) {
  if (!suggestion) suggestion = DrawFresh();
  if (suggestion) Expect(*suggestion);
  return suggestion;
}

void BayesianSearch::Expect(const space::Configuration& configuration) {
  histories_[0].MarkAsked(configuration);
  if (pool_) pool_->Take(configuration);
}

void BayesianSearch::Withdraw(const space::Configuration& configuration) {
  histories_[0].Withdraw(configuration);
  if (pool_) pool_->Release(configuration);
  for (SurrogateSet& surrogate_set : surrogate_sets_) {
    for (SurrogateSlot& slot : surrogate_set) slot.imagined.reset();
  }
}

std::optional<space::Configuration> BayesianSearch::BestOf(
    std::span<const space::Configuration> candidates, double best) {
  if (candidates.empty()) return std::nullopt;
  try {
    SurrogateSet& surrogate_set = surrogate_sets_.front();
    Learn(surrogate_set);
    PrepareUtility(surrogate_set);
    utility_.best = surrogate_set[0].objective.Transformed(best);
    feasibility_floor_ = 0;
    std::vector<double> utilities(candidates.size());
    UtilitiesAt(surrogate_set, candidates, utilities);
    return candidates[static_cast<size_t>(std::ranges::max_element(utilities) - utilities.begin())];
  } catch (const model::FitFailure& failure) {
    NoteFailure(failure);
    return std::nullopt;
  }
}

bool BayesianSearch::MayBeFeasible(const space::Configuration& configuration) const {
  if (!feasibility_.is_needed()) return true;
  return feasibility_.Probability(features_(std::span(&configuration, 1)))[0] >=
         options_.feasibility_threshold;
}

void BayesianSearch::Tell(const space::Configuration& configuration,
                          const trial::Outcome& outcome) {
  if (history().OutcomeOf(configuration) != nullptr) {
    Forget();
  }
  const pareto::Point values =
      outcome.ok() ? ObjectiveValues(outcome, objectives_) : pareto::Point();
  histories_[0].Record(configuration, outcome);
  for (size_t k = 1; k < histories_.size(); ++k) {
    histories_[k].Record(configuration,
                         outcome.ok() ? trial::Outcome::Feasible(values[k]) : outcome);
  }
  if (pool_) pool_->Take(configuration);
  for (SurrogateSet& surrogate_set : surrogate_sets_) {
    for (SurrogateSlot& slot : surrogate_set) slot.imagined.reset();
  }
}

void BayesianSearch::Forget() {
  for (SurrogateSet& surrogate_set : surrogate_sets_) {
    for (SurrogateSlot& slot : surrogate_set) slot.objective.Forget();
  }
  feasibility_.Forget();
}

bool BayesianSearch::IsSampling() const {
  if (history().best() == nullptr || initial_design_.Next(history()) != nullptr) return true;
  // As many as without earlier tasks, beside what these cost.
  const int samples =
      initial_design_.Disappoints(history())
          ? DefaultInitialSamples(history().space()) + initial_design_.Tried(history())
          : initial_samples_;
  return history().known() < static_cast<size_t>(samples);
}

/// What earlier tasks let expect, or the default where there is one: it was chosen with care, and
/// among many parameters every other configuration is drawn near it. The first of several
/// beginnings is compared with something else before the others are tried.
std::optional<space::Configuration> BayesianSearch::Sample() {
  const space::Configuration* beginning = initial_design_.Next(history());
  if (beginning != nullptr && !initial_design_.LacksComparison(history())) return *beginning;
  std::optional<space::Configuration> usual = history().space().Default();
  if (usual && !history().Knows(*usual)) return usual;
  if (usual && history().space().size() >= kManyParameters && history().known() % 2 == 1) {
    std::optional<space::Configuration> near =
        DrawNear(history().space(), *usual, kBeginningShare, random_);
    if (near && !history().Knows(*near)) return near;
  }
  return DrawFresh();
}

std::optional<space::Configuration> BayesianSearch::DrawFresh() {
  std::optional<space::Configuration> drawn = sampler_.Draw(history(), random_);
  for (int i = 0; canonical_ && drawn && i < kMaxForms; ++i) {
    space::Configuration form = canonical_(*drawn);
    if (!history().Knows(form)) return form;
    drawn = sampler_.Draw(history(), random_);
  }
  return drawn;
}

std::optional<space::Configuration> BayesianSearch::TrySuggest(size_t surrogate) {
  try {
    std::optional<space::Configuration> suggested = Suggest(surrogate_sets_[surrogate]);
    has_failed_ = false;
    return suggested;
  } catch (const model::FitFailure& failure) {
    NoteFailure(failure);
    return std::nullopt;
  }
}

void BayesianSearch::NoteFailure(const model::FitFailure& failure) {
  if (!std::exchange(has_failed_, true)) {
    notices_.push_back(std::string("the model of the objective failed (") + failure.what() +
                       "); configurations are drawn at random until it works again");
  }
  Forget();
  for (SurrogateSet& surrogate_set : surrogate_sets_) {
    for (SurrogateSlot& slot : surrogate_set) slot.imagined.reset();
  }
}

void BayesianSearch::Learn(SurrogateSet& surrogate_set) {
  bool learnt_anew = false;
  for (size_t k = 0; k < surrogate_set.size(); ++k) {
    const bool is_fitted = surrogate_set[k].objective.Update(histories_[k], random_);
    if (k == 0) learnt_anew = is_fitted;
    std::optional<std::string> notice = surrogate_set[k].objective.TakeNotice();
    if (notice && k == 0) notices_.push_back(*std::move(notice));
  }
  if (options_.learn_feasibility) feasibility_.Update(history(), random_);
  RefreshPool(learnt_anew && &surrogate_set == &surrogate_sets_.front());
  for (SurrogateSlot& slot : surrogate_set) slot.Imagine(history(), features_, options_.pending);
}

std::optional<space::Configuration> BayesianSearch::Suggest(SurrogateSet& surrogate_set) {
  Learn(surrogate_set);
  PrepareUtility(surrogate_set);
  feasibility_floor_ = feasibility_.is_needed() ? acquisition::DrawFeasibilityThreshold(
                                                      options_.feasibility_threshold, random_)
                                                : 0;
  const bool climbs = !pool_is_complete_ && options_.local_searches > 0;
  if (climbs && history().space().size() >= kManyParameters) {
    acquisition::Suggestion near = BestNearBestKnown(surrogate_set);
    if (near.exists()) return std::move(near.configuration);
  }
  std::vector<space::Configuration> starts;
  acquisition::Suggestion best = BestOfPool(surrogate_set, starts);
  if (climbs) {
    AddBestKnown(starts);
    acquisition::Suggestion climbed = BestOfClimbs(surrogate_set, std::move(starts));
    if (climbed.utility > best.utility) best = std::move(climbed);
  }
  if (!best.exists()) return std::nullopt;
  return std::move(best.configuration);
}

void BayesianSearch::PrepareUtility(const SurrogateSet& surrogate_set) {
  noise_.clear();
  for (const SurrogateSlot& slot : surrogate_set) {
    noise_.push_back(options_.noise_free ? 0 : slot.WithPending().NoiseVariance());
  }
  if (surrogate_set.size() > 1) {
    PrepareHypervolume(surrogate_set);
    return;
  }
  utility_ = {.kind = options_.acquisition,
              .best = surrogate_set[0].objective.Best(),
              .beta = acquisition::ConfidenceBeta(static_cast<int>(history().known())),
              .noise = noise_[0]};
  if (options_.trade_off) {
    utility_.best -= *options_.trade_off;
    utility_.beta = *options_.trade_off * *options_.trade_off;
  }
}

void BayesianSearch::PrepareHypervolume(const SurrogateSet& surrogate_set) {
  std::vector<pareto::Point> points;
  for (size_t i = 0; i < history().trials().size(); ++i) {
    if (!history().trials()[i].outcome.ok()) continue;
    pareto::Point& point = points.emplace_back();
    for (size_t k = 0; k < surrogate_set.size(); ++k) {
      point.push_back(
          surrogate_set[k].objective.Transformed(histories_[k].trials()[i].outcome.value));
    }
  }
  pareto::Point reference = pareto::DefaultReference(points);
  for (size_t k = 0; k < thresholds_.size(); ++k) {
    if (!thresholds_[k]) continue;
    const double threshold = surrogate_set[k].objective.Transformed(*thresholds_[k]);
    if (!std::isfinite(threshold)) continue;  // one that the objective's scale does not have
    reference[k] = std::min(pareto::DefaultReference(points, kMarginOfThresholds)[k], threshold);
  }
  const size_t pending = history().pending().size();
  for (size_t i = 0; i < pending; ++i) {
    pareto::Point& point = points.emplace_back();
    for (const SurrogateSlot& slot : surrogate_set) point.push_back(slot.imagined_values[i]);
  }
  std::vector<pareto::Point> front;
  for (int place : pareto::FrontOf(points)) front.push_back(points[static_cast<size_t>(place)]);
  hypervolume_.emplace(front, reference, random_);
}

void BayesianSearch::UtilitiesOf(std::span<const Prediction> predictions,
                                 std::span<double> utilities) const {
  for (const Prediction& prediction : predictions) {
    if (!prediction.mean.allFinite() || !prediction.variance.allFinite()) {
      throw model::FitFailure("it predicts values that are not finite numbers");
    }
  }
  std::vector<double> means(predictions.size());
  std::vector<double> variances(predictions.size());
  for (size_t i = 0; i < utilities.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    if (predictions.size() == 1) {
      utilities[i] = utility_(predictions[0].mean[row], predictions[0].variance[row]);
      continue;
    }
    for (size_t k = 0; k < predictions.size(); ++k) {
      means[k] = predictions[k].mean[row];
      variances[k] = predictions[k].variance[row] + noise_[k];
    }
    utilities[i] = hypervolume_->Log(means, variances);
  }
}

void BayesianSearch::RefreshPool(bool learnt_anew) {
  if (pool_ && (pool_is_complete_ || !learnt_anew)) return;
  const space::Space& space = history().space();
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
  for (SurrogateSet& surrogate_set : surrogate_sets_) {
    for (SurrogateSlot& slot : surrogate_set) {
      slot.watched_pool = slot.objective.surrogate().TrackPredictions(pool_->rows());
    }
  }
  for (const Observation& trial : history().trials()) pool_->Take(trial.configuration);
  for (const space::Configuration& pending : history().pending()) pool_->Take(pending);
}

void BayesianSearch::SurrogateSlot::Imagine(const History& history, const Features& features,
                                            PendingPolicy policy) {
  const std::vector<space::Configuration>& pending = history.pending();
  if (pending.empty()) return;
  if (!imagined) {
    imagined = objective.surrogate().Clone();
    imagined_values.clear();
  }
  const model::RowMatrix rows = features(std::span(pending).subspan(imagined_values.size()));
  VectorXd values, variance;
  if (policy == PendingPolicy::kBeliever) {
    imagined->Predict(rows, values, variance);
  } else {
    values = VectorXd::Constant(rows.rows(), objective.Best());
  }
  imagined_values.insert(imagined_values.end(), values.begin(), values.end());
  for (double& value : values) value = imagined->Untransform(value);
  imagined->Add(rows, values);
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
    const double weight = options_.prior_weight / static_cast<double>(history().known());
    for (size_t i = 0; i < utilities.size(); ++i) {
      utilities[i] += weight * LogPrior(history().space(), configurations[i]);
    }
  }
  // The last bits differ with the alignment of memory, and must not decide between equals.
  for (double& utility : utilities) utility = static_cast<float>(utility);
}

acquisition::Suggestion BayesianSearch::BestOfPool(const SurrogateSet& surrogate_set,
                                                   std::vector<space::Configuration>& starts) {
  std::vector<Prediction> predictions(surrogate_set.size());
  for (size_t k = 0; k < surrogate_set.size(); ++k) {
    surrogate_set[k].watched_pool->Predict(surrogate_set[k].WithPending(), predictions[k].mean,
                                           predictions[k].variance);
  }
  std::vector<double> utilities(static_cast<size_t>(pool_->size()));
  UtilitiesOf(predictions, utilities);
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

void BayesianSearch::UtilitiesAt(SurrogateSet& surrogate_set,
                                 std::span<const space::Configuration> configurations,
                                 std::span<double> utilities) {
  const model::RowMatrix rows = features_(configurations);
  std::vector<Prediction> predictions(surrogate_set.size());
  for (size_t k = 0; k < surrogate_set.size(); ++k) {
    auto& [mean, variance] = predictions[k];
    const model::Surrogate& surrogate = surrogate_set[k].WithPending();
    const auto* const process = dynamic_cast<const model::GaussianProcess*>(&surrogate);
    if (process != nullptr && process->observations() >= kMinRemembered) {
      surrogate_set[k].memo.Predict(*process, configurations, rows, mean, variance);
    } else {
      surrogate.Predict(rows, mean, variance);
    }
  }
  UtilitiesOf(predictions, utilities);
  WeightUtilities(configurations, rows, utilities);
}

acquisition::Suggestion BayesianSearch::BestNearBestKnown(SurrogateSet& surrogate_set) {
  std::vector<space::Configuration> centres, candidates;
  AddBestKnown(centres);
  if (objectives_.size() == 1) centres.resize(1);
  for (size_t i = 0; i < kNearCandidates; ++i) {
    const space::Configuration& centre = centres[i % centres.size()];
    std::optional<space::Configuration> near =
        DrawNear(history().space(), centre, NearShare(history().space()), random_);
    if (near && canonical_) near = canonical_(*near);
    if (near && !history().Knows(*near)) candidates.push_back(*std::move(near));
  }
  if (candidates.empty()) return {};
  std::vector<double> utilities(candidates.size());
  UtilitiesAt(surrogate_set, candidates, utilities);
  const auto best = std::ranges::max_element(utilities);
  return {std::move(candidates[static_cast<size_t>(best - utilities.begin())]), *best};
}

acquisition::Suggestion BayesianSearch::BestOfClimbs(SurrogateSet& surrogate_set,
                                                     std::vector<space::Configuration> starts) {
  const auto utility = [&](std::span<const space::Configuration> configurations,
                           std::span<double> utilities) {
    UtilitiesAt(surrogate_set, configurations, utilities);
  };
  return acquisition::ClimbToBest(
      history().space(), utility, starts,
      [&](const space::Configuration& c) { return history().Knows(c); }, kClimbSteps, random_,
      canonical_);
}

void BayesianSearch::AddBestKnown(std::vector<space::Configuration>& starts) {
  std::vector<int> best = history().Best(kBestKnown);
  if (objectives_.size() > 1) {
    best = Front();
    random_.Shuffle(best);
    best.resize(std::min(best.size(), kBestKnown));
  }
  for (int place : best) {
    starts.push_back(history().trials()[static_cast<size_t>(place)].configuration);
  }
}

std::vector<int> BayesianSearch::Front() const {
  std::vector<int> places;
  std::vector<pareto::Point> points;
  for (int i = 0; i < std::ssize(history().trials()); ++i) {
    const trial::Outcome& outcome = history().trials()[static_cast<size_t>(i)].outcome;
    if (!outcome.ok()) continue;
    places.push_back(i);
    points.push_back(ObjectiveValues(outcome, objectives_));
  }
  std::vector<int> front;
  for (int member : pareto::FrontOf(points)) front.push_back(places[static_cast<size_t>(member)]);
  return front;
}

}  // namespace bayloom::optimizer
