// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/mutator.h"
#include "bayloom/strategy/strategy.h"

namespace bayloom::strategy {

/// One generation of children.
///
/// Parents are drawn with probability proportional to their scores (>= 0; all zero: uniformly).
/// A child is a mutated parent or, less often, a parent itself, each at most once. Where the
/// mutator has nothing to change, the mutated program is infeasible or the mutation was without
/// effect, another parent is drawn, `attempts_per_child` times in all; then the last parent is
/// copied. There are `count` children. The result does not depend on the number of threads.
std::vector<CandidatePtr> Breed(const sketch::SpaceGenerator& space,
                                std::span<const WeightedMutator> mutators,
                                std::span<const CandidatePtr> parents,
                                std::span<const double> scores, int count,
                                const EvolutionaryOptions& options, base::RandomStream& random,
                                base::ThreadPool& pool);

}  // namespace bayloom::strategy
