// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/context_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "bayloom/acquisition/improvement.h"
#include "bayloom/acquisition/local_search.h"
#include "bayloom/base/hash.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/optimizer/bayes/bayesian_search.h"
#include "bayloom/optimizer/bayes/user_prior.h"

namespace bayloom::optimizer {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Of the candidates, so many of the least mean are looked at closely, and some more at random.
constexpr size_t kShortlist = 256, kRandomShortlist = 64;
constexpr int kClimbStepsInContext = 50;
/// Every so many trials, one that is best elsewhere.
constexpr size_t kExchangeInterval = 4;

ContextOptions WithModel(ContextOptions context, const OptimizerOptions& options) {
  if (context.model == nullptr) context.model = MakeContextModel(context.joint, options);
  return context;
}

}  // namespace

ContextSearch::ContextSearch(std::shared_ptr<const space::Space> space,
                             const OptimizerOptions& options)
    : context_(WithModel(*options.context, options)),
      model_(*context_.model),
      number_(model_.Join()),
      options_(options.bayesian),
      initial_samples_(options.initial_samples > 0 ? options.initial_samples
                                                   : DefaultInitialSamples(*space)),
      random_(base::Hasher().Add(options.seed).Add(number_).Digest()),
      history_(space),
      sampler_(options_.sampling),
      has_prior_(AnyPrior(*space)) {}

space::Configuration ContextSearch::Joint(space::Configuration own) const {
  for (size_t i = 0; i < context_.places.size(); ++i) {
    own.coordinates[static_cast<size_t>(context_.places[i])] = context_.coordinates[i];
  }
  return own;
}

std::optional<space::Configuration> ContextSearch::Own(space::Configuration joint) const {
  for (const int place : context_.places) joint.coordinates[static_cast<size_t>(place)] = 0;
  if (!space().Contains(joint)) return std::nullopt;
  return joint;
}

std::vector<space::Configuration> ContextSearch::Ask(int n) {
  std::vector<space::Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<space::Configuration> next = AskOne();
    if (!next) break;
    history_.MarkAsked(*next);
    asked.push_back(std::move(*next));
  }
  return asked;
}

void ContextSearch::Tell(const space::Configuration& configuration, const trial::Outcome& outcome) {
  history_.Record(configuration, outcome);
  model_.Record(number_, Joint(configuration), outcome);
}

std::optional<space::Configuration> ContextSearch::AskOne() {
  if (model_.history().known() < static_cast<size_t>(initial_samples_)) return Begin();
  try {
    std::optional<space::Configuration> suggested = Suggest();
    has_failed_ = false;
    if (suggested) return suggested;
  } catch (const model::FitFailure& failure) {
    if (!std::exchange(has_failed_, true)) {
      notices_.push_back(std::string("the model of the contexts failed (") + failure.what() +
                         "); configurations are drawn at random until it works again");
    }
  }
  return sampler_.Draw(history_, random_);
}

std::optional<space::Configuration> ContextSearch::Begin() {
  std::optional<space::Configuration> usual = space().Default();
  if (usual && !history_.Knows(*usual)) return usual;
  return sampler_.Draw(history_, random_);
}

std::optional<space::Configuration> ContextSearch::Suggest() {
  if (!model_.Learn()) return std::nullopt;
  PrepareUtility();
  if (history_.known() % kExchangeInterval == kExchangeInterval - 1) {
    if (auto best = BestOf(BestElsewhere())) return best;
  }
  return BestOfAll();
}

void ContextSearch::PrepareUtility() {
  imagined_.reset();
  if (!history_.pending().empty()) {
    // What is expected of them changes no mean, but how certain it is around them.
    std::vector<space::Configuration> pending;
    for (const space::Configuration& each : history_.pending()) pending.push_back(Joint(each));
    const model::RowMatrix rows = model_.RowsOf(pending);
    imagined_ = model_.process().Clone();
    VectorXd values, variance;
    imagined_->Predict(rows, values, variance);
    for (double& value : values) value = imagined_->Untransform(value);
    imagined_->Add(rows, values);
  }
  utility_ = {.kind = options_.acquisition,
              .beta = acquisition::ConfidenceBeta(static_cast<int>(history_.known()) + 1),
              .noise = model_.process().NoiseVariance()};
  feasibility_floor_ = model_.CanFail() ? acquisition::DrawFeasibilityThreshold(
                                              options_.feasibility_threshold, random_)
                                        : 0;
}

std::vector<space::Configuration> ContextSearch::BestElsewhere() const {
  std::vector<space::Configuration> found;
  for (int other = 0; other < model_.contexts(); ++other) {
    const Observation* const best = other == number_ ? nullptr : model_.BestOf(other);
    if (best == nullptr) continue;
    const std::optional<space::Configuration> own = Own(best->configuration);
    if (own && !history_.Knows(*own) && !std::ranges::count(found, *own)) found.push_back(*own);
  }
  return found;
}

std::vector<space::Configuration> ContextSearch::Shortlist(
    std::vector<space::Configuration> candidates) {
  if (candidates.size() <= kShortlist + kRandomShortlist) return candidates;
  std::vector<space::Configuration> joint;
  for (const space::Configuration& each : candidates) joint.push_back(Joint(each));
  const model::RowMatrix rows = model_.RowsOf(joint);
  VectorXd ranks = model_.MeansAt(rows);
  if (model_.CanFail()) {
    // What is likely to fail comes behind all others.
    const VectorXd feasible = model_.Feasibility(rows);
    const double behind = ranks.maxCoeff() - ranks.minCoeff() + 1;
    for (Index i = 0; i < ranks.size(); ++i) {
      if (feasible[i] < std::max(feasibility_floor_, 1e-3)) ranks[i] += behind;
    }
  }
  std::vector<int> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::nth_element(order, order.begin() + kShortlist, {},
                           [&](int i) { return std::pair(static_cast<float>(ranks[i]), i); });
  std::vector<space::Configuration> chosen;
  for (size_t i = 0; i < kShortlist; ++i) chosen.push_back(candidates[order[i]]);
  for (size_t i = 0; i < kRandomShortlist; ++i) {
    chosen.push_back(candidates[static_cast<size_t>(random_.UniformInt(std::ssize(candidates)))]);
  }
  return chosen;
}

std::optional<space::Configuration> ContextSearch::BestOfAll() {
  std::vector<space::Configuration> candidates = BestElsewhere();
  const bool is_small = space().CountFeasible() <= options_.score_all_up_to;
  if (is_small) {
    if (!all_) {
      all_.emplace();
      space().ForEach([&](const space::Configuration& c) {
        all_->push_back(c);
        return true;
      });
    }
    for (const space::Configuration& each : *all_) {
      if (!history_.Knows(each)) candidates.push_back(each);
    }
    return BestOf(Shortlist(std::move(candidates)));
  }
  for (int i = 0; i < options_.random_candidates; ++i) {
    std::optional<space::Configuration> drawn = space().Sample(random_, options_.sampling);
    if (drawn && !history_.Knows(*drawn)) candidates.push_back(*std::move(drawn));
  }
  return BestOfClimbs(Shortlist(std::move(candidates)));
}

void ContextSearch::UtilitiesAt(std::span<const space::Configuration> configurations,
                                std::span<double> utilities) const {
  std::vector<space::Configuration> joint;
  for (const space::Configuration& each : configurations) joint.push_back(Joint(each));
  const model::RowMatrix rows = model_.RowsOf(joint);
  const VectorXd means = model_.MeansAt(rows);
  VectorXd unused, variances;
  if (imagined_) {
    imagined_->Predict(rows, unused, variances);
  } else {
    model_.process().Predict(rows, unused, variances);
  }
  if (!means.allFinite() || !variances.allFinite()) {
    throw model::FitFailure("it predicts values that are not finite numbers");
  }
  acquisition::Utility utility = utility_;
  const std::optional<double> least = model_.LeastMean(number_);
  if (least) utility.best = *least;
  VectorXd feasible = VectorXd::Ones(rows.rows());
  if (model_.CanFail()) feasible = model_.Feasibility(rows);
  for (size_t i = 0; i < utilities.size(); ++i) {
    const auto row = static_cast<Index>(i);
    // Before anything has worked here, what is expected to be best is.
    utilities[i] = least ? utility(means[row], variances[row]) : -means[row];
    utilities[i] += acquisition::LogFeasibility(feasible[row], feasibility_floor_);
    if (has_prior_ && options_.prior_weight > 0) {
      utilities[i] += options_.prior_weight / static_cast<double>(history_.known() + 1) *
                      LogPrior(space(), configurations[i]);
    }
    // The last bits differ with the alignment of memory, and must not decide between equals.
    utilities[i] = static_cast<float>(utilities[i]);
  }
}

std::optional<space::Configuration> ContextSearch::BestOf(
    const std::vector<space::Configuration>& candidates) const {
  if (candidates.empty()) return std::nullopt;
  std::vector<double> utilities(candidates.size());
  UtilitiesAt(candidates, utilities);
  const auto best = std::ranges::max_element(utilities);
  if (!std::isfinite(*best)) return std::nullopt;
  return candidates[static_cast<size_t>(best - utilities.begin())];
}

std::optional<space::Configuration> ContextSearch::BestOfClimbs(
    std::vector<space::Configuration> starts) {
  std::vector<double> utilities(starts.size());
  UtilitiesAt(starts, utilities);
  std::vector<int> order(starts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](int i) { return utilities[i]; });
  std::vector<space::Configuration> chosen;
  for (int i = 0; i < std::min<int>(options_.local_searches, std::ssize(order)); ++i) {
    chosen.push_back(starts[order[i]]);
  }
  if (const Observation* const best = history_.best()) chosen.push_back(best->configuration);
  if (chosen.empty()) return std::nullopt;
  acquisition::Suggestion climbed = acquisition::ClimbToBest(
      space(),
      [&](std::span<const space::Configuration> configurations, std::span<double> values) {
        UtilitiesAt(configurations, values);
      },
      chosen, [&](const space::Configuration& c) { return history_.Knows(c); },
      kClimbStepsInContext, random_);
  if (!climbed.exists()) return std::nullopt;
  return std::move(climbed.configuration);
}

}  // namespace bayloom::optimizer
