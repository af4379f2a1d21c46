#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/search/fresh_samples.h"
#include "bayloom/search/strategy.h"

namespace bayloom {
namespace {

class RandomSearch final : public SearchStrategy {
 public:
  explicit RandomSearch(StrategyOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "random"; }

  std::vector<Candidate> GenerateCandidates(int n) override {
    RandomStream random(Hasher().Add(options_.seed).Add(known_.size()).Digest());
    std::vector<Candidate> batch;
    for (const CandidatePtr& drawn :
         DrawUnknown(*options_.space, n, known_, random, *options_.pool)) {
      batch.push_back(*drawn);
    }
    return batch;
  }

  void Notify(std::span<const Candidate> candidates, std::span<const Outcome>) override {
    for (const Candidate& candidate : candidates) known_.insert(candidate.hash);
  }

  void Exclude(uint64_t hash) override { known_.insert(hash); }

 private:
  StrategyOptions options_;
  HashSet known_;
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeRandomSearch(StrategyOptions options) {
  return std::make_unique<RandomSearch>(std::move(options));
}

}  // namespace bayloom
