// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/breeding.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bayloom::strategy {
namespace {

struct MutationAttempt {
  int child;
  const sketch::Candidate* parent;
  const Mutator* mutator;
  base::RandomStream random;
};

CandidatePtr Mutated(const sketch::SpaceGenerator& space, MutationAttempt& attempt) {
  std::optional<tensor::Trace> trace = attempt.mutator->Mutate(*attempt.parent, attempt.random);
  if (!trace) return nullptr;
  Result<sketch::Candidate> child = space.Replay(attempt.parent->space, *trace, attempt.random);
  if (!child || child->hash == attempt.parent->hash) return nullptr;
  return std::make_shared<const sketch::Candidate>(*std::move(child));
}

std::vector<double> ParentWeights(std::span<const double> scores) {
  std::vector<double> weights(scores.begin(), scores.end());
  if (std::none_of(weights.begin(), weights.end(), [](double w) { return w > 0; })) {
    std::fill(weights.begin(), weights.end(), 1.0);
  }
  return weights;
}

}  // namespace

std::vector<CandidatePtr> Breed(const sketch::SpaceGenerator& space,
                                std::span<const WeightedMutator> mutators,
                                std::span<const CandidatePtr> parents,
                                std::span<const double> scores, int count,
                                const EvolutionaryOptions& options, base::RandomStream& random,
                                base::ThreadPool& pool) {
  const std::vector<double> weights = ParentWeights(scores);
  std::vector<double> mutator_weights;
  for (const WeightedMutator& m : mutators) mutator_weights.push_back(m.weight);

  std::vector<CandidatePtr> children(count);
  std::vector<int> last_parent(count);
  std::vector<bool> copied(parents.size(), false);
  std::vector<int> childless(count);
  std::iota(childless.begin(), childless.end(), 0);
  // All children's first attempts, then the second attempts of those that failed, and so on:
  // what is drawn then never depends on which thread is faster.
  for (int round = 0; round < options.attempts_per_child && !childless.empty(); ++round) {
    std::vector<MutationAttempt> attempts;
    for (int child : childless) {
      const int parent = random.Weighted(weights);
      last_parent[child] = parent;
      if (random.Uniform() < options.mutation_probability) {
        const Mutator* mutator = mutators[random.Weighted(mutator_weights)].mutator.get();
        attempts.push_back({child, parents[parent].get(), mutator, random.Fork()});
      } else if (!copied[parent]) {
        copied[parent] = true;
        children[child] = parents[parent];
      }
    }
    pool.ParallelFor(static_cast<int64_t>(attempts.size()),
                     [&](int64_t i) { children[attempts[i].child] = Mutated(space, attempts[i]); });
    std::erase_if(childless, [&](int child) { return children[child] != nullptr; });
  }
  for (int child : childless) children[child] = parents[last_parent[child]];
  return children;
}

}  // namespace bayloom::strategy
