// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/bayes/fidelity_search.h"

#include <algorithm>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/model/autoregressive.h"
#include "bayloom/model/fit_failure.h"
#include "bayloom/model/gaussian_process.h"

namespace bayloom::optimizer {
namespace {

/// Configurations evaluated at each further fidelity before the surrogates choose: what two
/// fidelities have in common shows only in both.
constexpr size_t kPromotedFirst = 3;

/// How much of a fidelity's variance the one below is expected not to explain, in proportion to
/// what it does, and the pairs of trials that this counts as.
constexpr double kPriorUnexplained = 0.25, kPriorPairs = 2;

/// A lower fidelity is to tell so much more a second than the last one, where what is good has to
/// be evaluated as well.
constexpr double kMinAdvantage = 1.5;

double SquaredDeviations(const std::vector<double>& values) {
  double mean = 0, sum = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

space::Configuration WithLevel(space::Configuration configuration, int level) {
  configuration.coordinates.push_back(level);
  return configuration;
}

int FidelitiesOf(const space::Space& space) {
  return static_cast<int>(space.parameter(space.size() - 1).Cardinality());
}

/// Differences between fidelities are differences of logarithms, where there are any.
OptimizerOptions OfLast(OptimizerOptions options) {
  options.fidelity.reset();
  options.initial_samples = 1;
  if (options.bayesian.objective == model::ObjectiveScale::kAuto) {
    options.bayesian.objective = model::ObjectiveScale::kLog;
  }
  return options;
}

double SecondsOf(const trial::Outcome& outcome) {
  return outcome.Get("build_seconds", 0) + outcome.Get("measure_seconds", 0);
}

std::unique_ptr<model::Surrogate> MakeSurrogate(const Features& features,
                                                const model::Surrogate* lower) {
  model::GaussianProcessOptions options;
  options.scale = model::ObjectiveScale::kLinear;
  if (lower == nullptr) {
    return std::make_unique<model::GaussianProcess>(features.group_of_column(), options);
  }
  return std::make_unique<model::AutoregressiveSurrogate>(features.group_of_column(), *lower,
                                                          options);
}

}  // namespace

FidelitySearch::FidelitySearch(std::shared_ptr<const space::Space> space,
                               const OptimizerOptions& options)
    : space_(std::move(space)),
      options_(OfLast(options)),
      base_(options.fidelity->space),
      initial_samples_(options.initial_samples > 0 ? options.initial_samples
                                                   : DefaultInitialSamples(*base_)),
      random_(base::RandomStream(options.seed).Fork()),
      features_(base_, options_.bayesian.features),
      costs_(static_cast<size_t>(FidelitiesOf(*space_))) {
  const model::Surrogate* below = nullptr;
  for (size_t level = 0; level + 1 < costs_.size(); ++level) {
    ObjectiveModel objective(MakeSurrogate(features_, below), features_,
                             options_.bayesian.objective, /*is_one_of_several=*/false,
                             options_.bayesian.max_observations);
    lower_.push_back(std::make_unique<Level>(History(base_), std::move(objective)));
    below = &lower_.back()->objective.surrogate();
  }
  const BayesianSearch::SurrogateFactory make = [&](const Features& features,
                                                    const BayesianOptions&) {
    return MakeSurrogate(features, below);
  };
  full_ = std::make_unique<BayesianSearch>(base_, std::span(&make, 1), options_);
}

std::vector<space::Configuration> FidelitySearch::Ask(int n) {
  std::vector<space::Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<space::Configuration> next = AskOne();
    if (!next) break;
    asked.push_back(std::move(*next));
  }
  return asked;
}

std::optional<space::Configuration> FidelitySearch::AskOne() {
  const bool is_beginning = lower_.front()->history.known() < static_cast<size_t>(initial_samples_);
  for (int level = 1; !is_beginning && level <= last(); ++level) {
    const History& history = MemoryAt(level);
    if (history.known() >= kPromotedFirst && history.best() != nullptr) continue;
    if (std::optional<space::Configuration> best = Promoted(level)) {
      full_->Expect(*best);
      return AskAt(level, *best);
    }
  }
  // The last fidelity may have trials when those below have none yet: known points are tried there.
  const bool is_informed = Learn();
  const bool is_random = is_beginning || !is_informed || full_->IsSampling();
  std::optional<space::Configuration> next = is_random ? full_->AskAtRandom() : full_->AskBy(0);
  if (!next) return std::nullopt;
  return AskAt(is_random ? LowestUnknown(*next) : ChooseLevel(*next), *next);
}

int FidelitySearch::LowestUnknown(const space::Configuration& configuration) const {
  int level = 0;
  while (level < last() && MemoryAt(level).Knows(configuration)) ++level;
  return level;
}

space::Configuration FidelitySearch::AskAt(int level, const space::Configuration& configuration) {
  if (level < last()) lower_[static_cast<size_t>(level)]->history.MarkAsked(configuration);
  return WithLevel(configuration, level);
}

std::optional<space::Configuration> FidelitySearch::Promoted(int level) const {
  const History& below = MemoryAt(level - 1);
  for (const auto& [value, place] : below.ranking()) {
    const space::Configuration& configuration =
        below.trials()[static_cast<size_t>(place)].configuration;
    const bool is_free = !full_->history().Knows(configuration);
    if (is_free && !MemoryAt(level).Knows(configuration)) return configuration;
  }
  return std::nullopt;
}

bool FidelitySearch::Learn() {
  for (int level = 0; level < last(); ++level) {
    Level& learning = *lower_[static_cast<size_t>(level)];
    if (learning.history.best() == nullptr) return false;
    if (level < stale_from_) continue;
    if (level > stale_from_) learning.objective.Forget();
    try {
      learning.objective.Update(learning.history, random_);
    } catch (const model::FitFailure&) {
      learning.objective.Forget();
      return false;
    }
  }
  if (std::exchange(stale_from_, last()) < last()) full_->Forget();
  return true;
}

const ObjectiveModel& FidelitySearch::ObjectiveAt(int level) const {
  return level == last() ? full_->objective() : lower_[static_cast<size_t>(level)]->objective;
}

int FidelitySearch::ChooseLevel(const space::Configuration& configuration) const {
  double share = 1;  // of the variance of the last fidelity's values
  double best_rate = kMinAdvantage / CostOf(last());
  int best = last();
  for (int level = last() - 1; level >= 0; --level) {
    if (MemoryAt(level).Knows(configuration)) break;
    share *= ShareOf(level);
    if (share / CostOf(level) < best_rate) continue;
    best_rate = share / CostOf(level);
    best = level;
  }
  return best;
}

double FidelitySearch::ShareOf(int level) const {
  const History& below = MemoryAt(level);
  const History& above = MemoryAt(level + 1);
  const auto value_of = [&](int at, double value) {
    const ObjectiveModel& objective = ObjectiveAt(at);
    return objective.surrogate().Untransform(objective.Transformed(value));
  };
  const double slope =
      static_cast<const model::AutoregressiveSurrogate&>(ObjectiveAt(level + 1).surrogate())
          .slope();
  std::vector<double> predicted, differences;
  for (const Observation& trial : below.trials()) {
    if (!trial.outcome.ok()) continue;
    predicted.push_back(slope * value_of(level, trial.outcome.value));
    const trial::Outcome* const outcome = above.OutcomeOf(trial.configuration);
    if (outcome == nullptr || !outcome->ok()) continue;
    differences.push_back(value_of(level + 1, outcome->value) - predicted.back());
  }
  // The best are evaluated at both, and differ less than all do: hence the variance of all below.
  const double explained =
      SquaredDeviations(predicted) / static_cast<double>(std::max<size_t>(1, predicted.size()));
  if (!(explained > 0)) return 0;
  const double pairs = std::max<double>(0, static_cast<double>(differences.size()) - 1);
  const double unexplained =
      (SquaredDeviations(differences) + kPriorPairs * kPriorUnexplained * explained) /
      (pairs + kPriorPairs);
  return explained / (explained + unexplained);
}

double FidelitySearch::CostOf(int level) const {
  const Cost& cost = costs_[static_cast<size_t>(level)];
  if (cost.trials > 0 && cost.seconds > 0) return cost.seconds / cost.trials;
  const space::Parameter& fidelity = space_->parameter(space_->size() - 1);
  return fidelity.NumberAt(level) / fidelity.NumberAt(last());
}

void FidelitySearch::Tell(const space::Configuration& configuration,
                          const trial::Outcome& outcome) {
  if (!space_->Contains(configuration)) {
    throw InputError("told the outcome of a configuration that is not in the space");
  }
  space::Configuration base = configuration;
  const auto level = static_cast<int>(base.coordinates.back());
  base.coordinates.pop_back();
  if (outcome.ok()) {
    Cost& cost = costs_[static_cast<size_t>(level)];
    cost.seconds += SecondsOf(outcome);
    ++cost.trials;
  }
  if (level == last()) {
    full_->Tell(base, outcome);
    return;
  }
  lower_[static_cast<size_t>(level)]->history.Record(base, outcome);
  if (outcome.ok()) {
    full_->Withdraw(base);
    stale_from_ = std::min(stale_from_, level);
  } else {
    full_->Tell(base, outcome);
  }
}

}  // namespace bayloom::optimizer
