// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/techniques/portfolio.h"

#include <algorithm>
#include <utility>

namespace bayloom::optimizer {
namespace {

/// Trials without a new best for which the Gaussian process goes on alone: so many, and that share
/// of all.
constexpr double kTrialsAlone = 10, kShareAlone = 0.1;
/// What the bandit decides of the trials after twice as many.
constexpr double kMaxShare = 2.0 / 3;
/// Proposals of a technique that are known or likely to fail before it gets its way.
constexpr int kMaxUnlikely = 8;

std::vector<std::unique_ptr<Technique>> MakeTechniques() {
  std::vector<std::unique_ptr<Technique>> techniques;
  techniques.push_back(MakeGenetic());
  techniques.push_back(MakeHillClimb());
  return techniques;
}

}  // namespace

Portfolio::Portfolio(std::shared_ptr<const space::Space> space,
                     std::span<const BayesianSearch::SurrogateFactory> surrogates,
                     const OptimizerOptions& options)
    : canonical_(options.canonical),
      random_(base::RandomStream(options.seed).Fork()),
      surrogates_(std::move(space), surrogates, options),
      techniques_(MakeTechniques()),
      bandit_(kTechniques + static_cast<int>(techniques_.size())) {}

std::vector<space::Configuration> Portfolio::Ask(int n) {
  std::vector<space::Configuration> asked;
  while (static_cast<int>(asked.size()) < n) {
    std::optional<space::Configuration> next;
    if (!surrogates_.IsSampling() && IsStuck()) {
      const int arm = bandit_.Choose();
      next = AskArm(arm);
      if (next) {
        asked_by_.emplace(*next, arm);
      } else {
        bandit_.Reward(arm, false);  // it would be the least used one for ever
      }
    }
    if (!next) next = surrogates_.AskBy(kGaussianProcess);
    if (!next) break;
    asked.push_back(std::move(*next));
  }
  return asked;
}

/// At random, ever more often.
bool Portfolio::IsStuck() {
  const auto told = static_cast<double>(surrogates_.history().trials().size());
  const double patience = kTrialsAlone + kShareAlone * told;
  const double since = told - static_cast<double>(told_at_best_);
  return random_.Uniform() < kMaxShare * std::clamp(since / patience - 1, 0.0, 1.0);
}

std::optional<space::Configuration> Portfolio::AskArm(int arm) {
  if (arm == kGaussianProcess || arm == kForest) {
    return surrogates_.AskBy(static_cast<size_t>(arm));
  }
  std::optional<space::Configuration> next =
      arm == kRegions ? AskRegions()
                      : AskTechnique(*techniques_[static_cast<size_t>(arm - kTechniques)]);
  if (next) surrogates_.Expect(*next);
  return next;
}

std::optional<space::Configuration> Portfolio::AskRegions() {
  TrustRegions::Question question = regions_.Next(surrogates_.history(), random_);
  if (canonical_) {
    for (space::Configuration& c : question.candidates) c = canonical_(c);
    std::erase_if(question.candidates,
                  [&](const space::Configuration& c) { return surrogates_.history().Knows(c); });
  }
  std::optional<space::Configuration> next = surrogates_.BestOf(question.candidates, question.best);
  if (next) regions_.Ask(*next, question.region);
  return next;
}

/// None where all it proposes stands for what is known.
std::optional<space::Configuration> Portfolio::AskTechnique(Technique& technique) {
  std::optional<space::Configuration> unlikely;
  for (int i = 0; i < kMaxUnlikely; ++i) {
    std::optional<space::Configuration> next = technique.Propose(surrogates_.history(), random_);
    if (!next) break;
    if (canonical_) next = canonical_(*next);
    if (surrogates_.history().Knows(*next)) continue;
    if (surrogates_.MayBeFeasible(*next)) return next;
    unlikely = std::move(next);
  }
  return unlikely;
}

void Portfolio::Tell(const space::Configuration& configuration, const trial::Outcome& outcome) {
  const History& history = surrogates_.history();
  const Observation* const best = history.best();
  const bool is_new_best = outcome.ok() && (best == nullptr || outcome.value < best->outcome.value);
  surrogates_.Tell(configuration, outcome);
  if (is_new_best) told_at_best_ = history.trials().size();
  const auto asked = asked_by_.find(configuration);
  const int arm = asked == asked_by_.end() ? -1 : asked->second;
  if (arm >= 0) {
    bandit_.Reward(arm, is_new_best);
    asked_by_.erase(asked);
  }
  const Observation trial = {configuration, outcome};
  regions_.Observe(history, trial);
  for (int i = 0; i < std::ssize(techniques_); ++i) {
    techniques_[static_cast<size_t>(i)]->Observe(history, trial, arm == kTechniques + i, random_);
  }
}

}  // namespace bayloom::optimizer
