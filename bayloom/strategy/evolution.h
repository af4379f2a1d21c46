// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/mutator.h"
#include "bayloom/strategy/scored_candidate.h"
#include "bayloom/strategy/strategy.h"

namespace bayloom::strategy {

/// Breeds programs by mutation and selection, for any measure of fitness.
class Evolution {
 public:
  /// Space, pool and evolutionary options count; the first two must outlive it.
  explicit Evolution(const StrategyOptions& options);

  /// Programs of a generation when so many candidates are wanted.
  int PopulationFor(int batch) const;
  /// Those of them that are taken from the fastest measured.
  size_t MeasuredCount(int population) const;

  /// Feasible ones of `attempts` random programs, or of several times as many while they are few.
  std::vector<CandidatePtr> DrawFresh(int attempts, base::RandomStream& random) const;

  /// The `keep` fittest programs not in `known` that came up in any generation, best first. The
  /// first generation is `measured` and `fresh`, the others have `children`.
  std::vector<ScoredCandidate> Run(std::span<const ScoredCandidate> measured,
                                   std::span<const CandidatePtr> fresh, int children,
                                   const Scorer& fitness, const HashSet& known, size_t keep,
                                   base::RandomStream& random) const;

 private:
  const sketch::SpaceGenerator& space_;
  base::ThreadPool& pool_;
  EvolutionaryOptions options_;
  std::vector<WeightedMutator> mutators_;
};

}  // namespace bayloom::strategy
