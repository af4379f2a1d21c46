#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/search/breeding.h"
#include "bayloom/search/fresh_samples.h"
#include "bayloom/search/mutator.h"
#include "bayloom/search/strategy.h"

namespace bayloom {
namespace {

/// A program and a number that says how good it is.
struct Rated {
  double rating;
  CandidatePtr candidate;
};

/// Keeps the `size` entries with the highest ratings, best first.
void KeepBest(std::vector<Rated>& entries, size_t size) {
  std::sort(entries.begin(), entries.end(), [](const Rated& a, const Rated& b) {
    if (a.rating != b.rating) return a.rating > b.rating;
    return a.candidate->hash < b.candidate->hash;
  });
  if (entries.size() > size) entries.resize(size);
}

/// Asks the scorer about every program once.
class ScoreMemo {
 public:
  explicit ScoreMemo(const Scorer& scorer) : scorer_(scorer) {}

  /// Scores, clamped below at 0.
  std::vector<double> Score(std::span<const CandidatePtr> candidates) {
    std::vector<const Candidate*> unscored;
    for (const CandidatePtr& candidate : candidates) {
      if (scores_.emplace(candidate->hash, 0.0).second) unscored.push_back(candidate.get());
    }
    if (!unscored.empty()) {
      const std::vector<double> scores = scorer_(unscored);
      for (size_t i = 0; i < unscored.size(); ++i) {
        scores_[unscored[i]->hash] = std::max(0.0, scores[i]);
      }
    }
    std::vector<double> result;
    for (const CandidatePtr& candidate : candidates) result.push_back(scores_[candidate->hash]);
    return result;
  }

 private:
  const Scorer& scorer_;
  std::unordered_map<uint64_t, double> scores_;
};

class EvolutionarySearch final : public SearchStrategy {
 public:
  explicit EvolutionarySearch(StrategyOptions options)
      : options_(std::move(options)), mutators_(CpuMutators(options_.space->workload())) {}

  std::string name() const override { return "evolutionary"; }

  std::vector<Candidate> GenerateCandidates(int n) override {
    RandomStream random(Hasher().Add(options_.seed).Add(known_.size()).Digest());
    const int population = PopulationFor(n);
    const std::span<const Rated> measured = MeasuredFor(population);
    std::vector<CandidatePtr> fresh =
        FreshPopulation(population - static_cast<int>(measured.size()), random);
    const std::vector<Rated> best = Evolve(measured, fresh, population, n, random);
    return Select(best, std::move(fresh), n, random);
  }

  void Notify(std::span<const Candidate> candidates, std::span<const Outcome> outcomes) override {
    for (size_t i = 0; i < candidates.size(); ++i) {
      known_.insert(candidates[i].hash);
      if (outcomes[i].verdict != Verdict::kOk) continue;
      measured_.push_back(
          {1 / outcomes[i].value, std::make_shared<const Candidate>(candidates[i])});
    }
    KeepBest(measured_, MeasuredCount(options_.evolutionary.population));
  }

  void Exclude(uint64_t hash) override { known_.insert(hash); }

 private:
  int PopulationFor(int batch) const {
    const EvolutionaryOptions& o = options_.evolutionary;
    return std::clamp(o.population_per_candidate * batch, o.population / 4, o.population);
  }

  size_t MeasuredCount(int population) const {
    return static_cast<size_t>(population * options_.evolutionary.measured_share);
  }

  std::span<const Rated> MeasuredFor(int population) const {
    return std::span(measured_).first(std::min(measured_.size(), MeasuredCount(population)));
  }

  std::vector<CandidatePtr> FreshPopulation(int attempts, RandomStream& random) const {
    const EvolutionaryOptions& o = options_.evolutionary;
    std::vector<CandidatePtr> fresh;
    int empty_rounds = 0;
    while (static_cast<int>(fresh.size()) < o.min_fresh && empty_rounds < o.max_empty_rounds) {
      std::vector<CandidatePtr> round =
          DrawFresh(*options_.space, attempts, random, *options_.pool);
      empty_rounds = round.empty() ? empty_rounds + 1 : 0;
      std::move(round.begin(), round.end(), std::back_inserter(fresh));
    }
    return fresh;
  }

  /// The n best-scored unknown programs that came up in any generation.
  std::vector<Rated> Evolve(std::span<const Rated> measured, std::span<const CandidatePtr> fresh,
                            int children, int n, RandomStream& random) const {
    std::vector<CandidatePtr> population;
    for (const Rated& rated : measured) population.push_back(rated.candidate);
    population.insert(population.end(), fresh.begin(), fresh.end());
    std::vector<Rated> best;
    if (population.empty()) return best;

    ScoreMemo memo(options_.scorer);
    HashSet met = known_;
    for (int generation = 0;; ++generation) {
      const std::vector<double> scores = memo.Score(population);
      for (size_t i = 0; i < population.size(); ++i) {
        if (met.insert(population[i]->hash).second) best.push_back({scores[i], population[i]});
      }
      KeepBest(best, n);
      if (generation == options_.evolutionary.generations) return best;
      population = Breed(*options_.space, mutators_, population, scores, children,
                         options_.evolutionary, random, *options_.pool);
    }
  }

  /// Most of the batch from the best, a little from the fresh samples; each makes up for what
  /// the other lacks, and more drawing for what both lack.
  std::vector<Candidate> Select(std::span<const Rated> best, std::vector<CandidatePtr> fresh, int n,
                                RandomStream& random) {
    std::vector<Candidate> batch;
    auto add = [&](const CandidatePtr& candidate, int limit) {
      if (static_cast<int>(batch.size()) >= limit) return;
      if (known_.insert(candidate->hash).second) batch.push_back(*candidate);
    };
    const int exploring = static_cast<int>(std::floor(options_.evolutionary.epsilon * n));
    random.Shuffle(fresh);
    for (const Rated& rated : best) add(rated.candidate, n - exploring);
    for (const CandidatePtr& candidate : fresh) add(candidate, n);
    for (const Rated& rated : best) add(rated.candidate, n);
    const int missing = n - static_cast<int>(batch.size());
    for (const CandidatePtr& candidate :
         DrawUnknown(*options_.space, missing, known_, random, *options_.pool)) {
      batch.push_back(*candidate);
    }
    return batch;
  }

  StrategyOptions options_;
  std::vector<WeightedMutator> mutators_;
  HashSet known_;
  std::vector<Rated> measured_;  ///< the fastest programs, rated by runs per second
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeEvolutionarySearch(StrategyOptions options) {
  return std::make_unique<EvolutionarySearch>(std::move(options));
}

}  // namespace bayloom
