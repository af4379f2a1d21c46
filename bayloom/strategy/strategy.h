// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/registry.h"
#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/strategy/bayes/bayes_options.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::strategy {

/// Predicts how good programs are, one number each: the higher the better, 1 about as good as the
/// best program measured so far. Only the order and the ratios matter.
using Scorer = std::function<std::vector<double>(std::span<const sketch::Candidate* const>)>;

/// Something that programs are searched for by.
struct Objective {
  Scorer scorer;  ///< required by strategies that use a cost model
  /// What a trial that has a value says of it, less being better; nullopt if nothing. The default
  /// is the trial's value, its time.
  std::function<std::optional<double>(const trial::Outcome&)> value =
      [](const trial::Outcome& outcome) { return std::optional(outcome.value); };
};

/// Settings of the evolutionary search; the defaults are MetaSchedule's.
struct EvolutionaryOptions {
  /// Programs of a generation. MetaSchedule's 512 for its batches of 64; for small batches
  /// `population_per_candidate` times as many as candidates are wanted, but at least a quarter,
  /// so that proposing a few takes less than measuring them.
  int population = 512;
  int population_per_candidate = 16;
  int generations = 4;
  /// Part of the first generation that is taken from the best measured programs.
  double measured_share = 0.2;
  /// Fresh samples are drawn until there are this many, or `max_empty_rounds` rounds in a row
  /// brought none.
  int min_fresh = 50;
  int max_empty_rounds = 5;
  /// Probability that a child is a mutated parent and not the parent itself.
  double mutation_probability = 0.85;
  /// Attempts at one child before its parent is copied instead.
  int attempts_per_child = 11;
  /// Part of every batch that is drawn from the fresh samples, blind to their scores.
  double epsilon = 0.05;
};

struct StrategyOptions {
  const sketch::SpaceGenerator* space = nullptr;  ///< required; must outlive the strategy
  base::ThreadPool* pool = nullptr;               ///< required; must outlive the strategy
  /// The time comes first. "bayes" looks at all, others at the first one.
  std::vector<Objective> objectives = {};
  /// Programs that the next batch should hold regardless of their scores.
  std::function<int()> exploration_count = [] { return 0; };
  /// Whether scores say something before anything was measured.
  std::function<bool()> scores_are_informed = [] { return false; };
  uint64_t seed = 0;
  EvolutionaryOptions evolutionary;
  BayesOptions bayes = {};

  const Scorer& scorer() const { return objectives.at(0).scorer; }
};

/// Decides which programs of a workload's design spaces are worth a trial.
///
/// The choices are a function of the seed, the number of candidates known, and the outcomes the
/// strategy was notified of, for any number of threads. So a strategy that is told of
/// everything an earlier one knew goes on as that one would have done.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  virtual std::string name() const = 0;

  /// Up to n distinct candidates, best first as far as known, none of which was ever returned,
  /// notified or excluded before. Fewer only if the design spaces seem exhausted: thousands of
  /// draws in a row gave nothing new.
  virtual std::vector<sketch::Candidate> GenerateCandidates(int n) = 0;

  /// Outcomes of candidates, parallel to them; in any order, and also of candidates that the
  /// strategy did not propose (records of earlier sessions).
  virtual void Notify(std::span<const sketch::Candidate> candidates,
                      std::span<const trial::Outcome> outcomes) = 0;

  /// Never to propose the program with this structural hash.
  virtual void Exclude(uint64_t hash) = 0;
};

/// What makes a strategy.
struct StrategyMaker {
  /// `words` is what follows the name and a colon: "heap+lru" of "rocke2024:heap+lru".
  std::function<std::unique_ptr<SearchStrategy>(std::string_view words, StrategyOptions)> make;
  /// Refuses words that the strategy does not understand; null if it takes none.
  std::function<Status(std::string_view words)> check_words = nullptr;
};

/// All strategies by name:
///   bayes             cost model and surrogate together (strategy/bayes/bayes_search.h)
///   evolutionary      MetaSchedule's search
///   random            by chance alone
base::Registry<StrategyMaker>& Strategies();
/// Whether CreateStrategy understands a name, with or without words; if not, why.
Status CheckStrategyName(std::string_view name);
/// Throws InputError for a name it does not know.
std::unique_ptr<SearchStrategy> CreateStrategy(const std::string& name, StrategyOptions options);

/// "random": new random decisions for a uniformly drawn design space, every time.
std::unique_ptr<SearchStrategy> MakeRandomSearch(StrategyOptions options);
/// "evolutionary": MetaSchedule's evolutionary search (Shao et al. 2022), guided by the scorer.
std::unique_ptr<SearchStrategy> MakeEvolutionarySearch(StrategyOptions options);

}  // namespace bayloom::strategy
