// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/evolution.h"

#include <algorithm>
#include <iterator>

#include "bayloom/strategy/breeding.h"

namespace bayloom::strategy {

Evolution::Evolution(const StrategyOptions& options)
    : space_(*options.space),
      pool_(*options.pool),
      options_(options.evolutionary),
      mutators_(MutatorsFor(*options.space)) {}

int Evolution::PopulationFor(int batch) const {
  return std::clamp(options_.population_per_candidate * batch, options_.population / 4,
                    options_.population);
}

size_t Evolution::MeasuredCount(int population) const {
  return static_cast<size_t>(population * options_.measured_share);
}

std::vector<CandidatePtr> Evolution::DrawFresh(int attempts, base::RandomStream& random) const {
  std::vector<CandidatePtr> fresh;
  int empty_rounds = 0;
  while (static_cast<int>(fresh.size()) < options_.min_fresh &&
         empty_rounds < options_.max_empty_rounds) {
    std::vector<CandidatePtr> round = bayloom::strategy::DrawFresh(space_, attempts, random, pool_);
    empty_rounds = round.empty() ? empty_rounds + 1 : 0;
    std::move(round.begin(), round.end(), std::back_inserter(fresh));
  }
  return fresh;
}

std::vector<ScoredCandidate> Evolution::Run(std::span<const ScoredCandidate> measured,
                                            std::span<const CandidatePtr> fresh, int children,
                                            const Scorer& fitness, const HashSet& known,
                                            size_t keep, base::RandomStream& random) const {
  std::vector<CandidatePtr> population;
  for (const ScoredCandidate& rated : measured) population.push_back(rated.candidate);
  population.insert(population.end(), fresh.begin(), fresh.end());
  std::vector<ScoredCandidate> best;
  if (population.empty()) return best;

  ScoreMemo memo(fitness);
  HashSet met = known;
  for (int generation = 0;; ++generation) {
    const std::vector<double> scores = memo.Score(population);
    for (size_t i = 0; i < population.size(); ++i) {
      if (met.insert(population[i]->hash).second) best.push_back({scores[i], population[i]});
    }
    KeepBest(best, keep);
    if (generation == options_.generations) return best;
    population = Breed(space_, mutators_, population, scores, children, options_, random, pool_);
  }
}

}  // namespace bayloom::strategy
