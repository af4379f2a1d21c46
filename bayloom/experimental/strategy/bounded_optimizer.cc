// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/strategy/bounded_optimizer.h"

#include <algorithm>

namespace bayloom::experimental {
namespace {

constexpr double kDefaultKappa = 0.1;
constexpr double kDefaultXi = 0.01;

/// Scores are cheap, so that a suggestion may take little time.
optimizer::OptimizerOptions EngineOptions(const Rocke2024Options& options, uint64_t seed) {
  optimizer::OptimizerOptions engine;
  engine.seed = seed;
  engine.bayesian.acquisition = options.acquisition;
  engine.bayesian.trade_off = options.trade_off.value_or(
      options.acquisition == acquisition::AcquisitionKind::kConfidenceBound ? kDefaultKappa
                                                                            : kDefaultXi);
  engine.bayesian.objective = model::ObjectiveScale::kLinear;
  engine.bayesian.random_candidates = 256;
  engine.bayesian.local_searches = 2;
  return engine;
}

}  // namespace

BoundedOptimizer::BoundedOptimizer(const DecisionSpace& decisions, const Rocke2024Options& options,
                                   uint64_t seed)
    : decisions_(decisions), options_(options), seeds_(seed), space_(decisions.space()) {
  if (options.reduce_domain) reduction_.emplace(*space_);
  Restart();
}

std::optional<space::Configuration> BoundedOptimizer::Suggest() {
  std::vector<space::Configuration> asked = optimizer_->Ask(1);
  if (asked.empty()) return std::nullopt;
  return std::move(asked[0]);
}

void BoundedOptimizer::Register(const space::Configuration& configuration,
                                std::optional<double> score) {
  memory_.push_back({configuration, score});
  if (std::ssize(memory_) <= options_.memory_limit) return Tell(memory_.back());
  if (options_.eviction == Eviction::kReset) {
    memory_ = inputs_;
  } else {
    memory_.erase(memory_.begin(), memory_.begin() + (options_.memory_limit + 9) / 10);
  }
  Restart();
}

void BoundedOptimizer::RegisterInput(const space::Configuration& configuration, double score) {
  inputs_.push_back({configuration, score});
  Register(configuration, score);
}

void BoundedOptimizer::EndInput() {
  if (!reduction_) return;
  const auto best = std::max_element(
      memory_.begin(), memory_.end(),
      [](const Entry& a, const Entry& b) { return a.score.value_or(-1) < b.score.value_or(-1); });
  if (best == memory_.end() || !best->score) return;
  reduction_->Update(best->configuration);
  space_ = decisions_.Within(reduction_->windows());
  Restart();
}

void BoundedOptimizer::Tell(const Entry& entry) {
  if (!space_->Contains(entry.configuration)) return;
  trial::Outcome outcome;
  if (entry.score) {
    outcome.value = -*entry.score;
  } else {
    outcome = trial::Outcome::Infeasible(trial::Verdict::kBuildError, "the schedule is refused");
  }
  optimizer_->Tell(entry.configuration, outcome);
}

void BoundedOptimizer::Restart() {
  optimizer_ = optimizer::MakeOptimizer("bayesian", space_, EngineOptions(options_, seeds_.Next()));
  for (const Entry& entry : memory_) Tell(entry);
}

}  // namespace bayloom::experimental
