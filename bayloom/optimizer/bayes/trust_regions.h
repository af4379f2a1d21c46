// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <unordered_map>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/optimizer/bayes/history.h"

namespace bayloom::optimizer {

/// Searches around several incumbents that differ from each other, in turns (after TuRBO, Eriksson
/// et al. 2019, over the neighbourhoods of constrained spaces): what is near the best known does
/// not compete with what is near another good trial.
///
/// A region is what a few steps to feasible neighbours lead to from its centre. It moves to what is
/// better and grows by a step then, shrinks by one after as many failures as there are parameters,
/// and ends when it has no steps left. The next one opens around the best trial far from all
/// centres so far, or if there is none, around a random one.
class TrustRegions {
 public:
  /// What may be asked for in the region whose turn it is, and what to improve on there.
  struct Question {
    int region = 0;
    std::vector<space::Configuration> candidates;
    double best = 0;
  };

  /// None of the candidates is known; there may be none. The history has a feasible trial.
  Question Next(const History& history, base::RandomStream& random);
  /// What was asked for.
  void Ask(const space::Configuration& configuration, int region) {
    asked_for_.emplace(configuration, region);
  }
  /// A trial that the history holds already.
  void Observe(const History& history, const Observation& trial);

 private:
  struct Region {
    space::Configuration centre;
    double value = 0;
    int steps = 0;  ///< 0: closed
    int failures = 0;
  };

  void Open(Region& region, const History& history, base::RandomStream& random);
  bool IsFarFromAll(const space::Configuration& configuration) const;

  std::vector<Region> regions_;
  size_t turn_ = 0;
  std::vector<space::Configuration> centres_;  ///< of all regions so far, the newest last
  std::unordered_map<space::Configuration, int> asked_for_;
};

}  // namespace bayloom::optimizer
