// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/strategy/evolution.h"
#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/scored_candidate.h"
#include "bayloom/strategy/strategy.h"

namespace bayloom::strategy {
namespace {

class EvolutionarySearch final : public SearchStrategy {
 public:
  explicit EvolutionarySearch(StrategyOptions options)
      : options_(std::move(options)), evolution_(options_) {}

  std::string name() const override { return "evolutionary"; }

  std::vector<sketch::Candidate> GenerateCandidates(int n) override {
    base::RandomStream random(base::Hasher().Add(options_.seed).Add(known_.size()).Digest());
    const int population = evolution_.PopulationFor(n);
    const std::span<const ScoredCandidate> measured = MeasuredFor(population);
    std::vector<CandidatePtr> fresh =
        evolution_.DrawFresh(population - static_cast<int>(measured.size()), random);
    const std::vector<ScoredCandidate> best = evolution_.Run(
        measured, fresh, population, options_.scorer(), known_, static_cast<size_t>(n), random);
    return Select(best, std::move(fresh), n, random);
  }

  void Notify(std::span<const sketch::Candidate> candidates,
              std::span<const trial::Outcome> outcomes) override {
    for (size_t i = 0; i < candidates.size(); ++i) {
      known_.insert(candidates[i].hash);
      if (outcomes[i].verdict != trial::Verdict::kOk) continue;
      measured_.push_back(
          {1 / outcomes[i].value, std::make_shared<const sketch::Candidate>(candidates[i])});
    }
    KeepBest(measured_, evolution_.MeasuredCount(options_.evolutionary.population));
  }

  void Exclude(uint64_t hash) override { known_.insert(hash); }

 private:
  std::span<const ScoredCandidate> MeasuredFor(int population) const {
    return std::span(measured_).first(
        std::min(measured_.size(), evolution_.MeasuredCount(population)));
  }

  /// Most of the batch from the best, a little from the fresh samples; each makes up for what
  /// the other lacks, and more drawing for what both lack.
  std::vector<sketch::Candidate> Select(std::span<const ScoredCandidate> best,
                                        std::vector<CandidatePtr> fresh, int n,
                                        base::RandomStream& random) {
    std::vector<sketch::Candidate> batch;
    auto add = [&](const CandidatePtr& candidate, int limit) {
      if (static_cast<int>(batch.size()) >= limit) return;
      if (known_.insert(candidate->hash).second) batch.push_back(*candidate);
    };
    const int exploring =
        UnscoredCount(options_.evolutionary.epsilon, options_.exploration_count(), n);
    random.Shuffle(fresh);
    for (const ScoredCandidate& rated : best) add(rated.candidate, n - exploring);
    for (const CandidatePtr& candidate : fresh) add(candidate, n);
    for (const ScoredCandidate& rated : best) add(rated.candidate, n);
    const int missing = n - static_cast<int>(batch.size());
    for (const CandidatePtr& candidate :
         DrawUnknown(*options_.space, missing, known_, random, *options_.pool)) {
      batch.push_back(*candidate);
    }
    return batch;
  }

  StrategyOptions options_;
  Evolution evolution_;
  HashSet known_;
  std::vector<ScoredCandidate> measured_;  ///< the fastest programs, rated by runs per second
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeEvolutionarySearch(StrategyOptions options) {
  return std::make_unique<EvolutionarySearch>(std::move(options));
}

}  // namespace bayloom::strategy
