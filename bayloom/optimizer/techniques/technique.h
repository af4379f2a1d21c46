// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/optimizer/bayes/history.h"

namespace bayloom::optimizer {

/// A heuristic that proposes one configuration at a time from what is known. Techniques share a
/// history: each sees what the others found.
class Technique {
 public:
  virtual ~Technique() = default;
  virtual std::string_view name() const = 0;

  /// A configuration the history does not know; none when the technique has no idea now.
  virtual std::optional<space::Configuration> Propose(const History& history,
                                                      base::RandomStream& random) = 0;

  /// A trial that the history holds already; `own` when this technique proposed it.
  virtual void Observe(const History& history, const Observation& trial, bool own,
                       base::RandomStream& random) = 0;
};

/// Uniformly at random.
std::unique_ptr<Technique> MakeRandomTechnique();
/// Simulated annealing: walks to a random feasible neighbour, always downhill, uphill with
/// probability exp(-rise / temperature).
std::unique_ptr<Technique> MakeAnnealing();
/// Steady-state genetic algorithm: tournaments, uniform crossover, mutation by feasible neighbours.
/// For several objectives (see OptimizerOptions) the population is ranked by its fronts, and within
/// a front by crowding (NSGA-II, Deb et al. 2002).
std::unique_ptr<Technique> MakeGenetic(std::vector<std::string> objectives = {"value"});
/// Tries the neighbours of the best known in random order and moves to the first better one; starts
/// again from a random place when none is left.
std::unique_ptr<Technique> MakeHillClimb();
/// Steps along one parameter at a time from its centre, by steps that double on success and halve
/// when no direction helps (Hooke and Jeeves 1961).
std::unique_ptr<Technique> MakePatternSearch();

}  // namespace bayloom::optimizer
