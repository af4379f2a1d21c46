// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/strategy.h"

namespace bayloom::strategy {
namespace {

class RandomSearch final : public SearchStrategy {
 public:
  explicit RandomSearch(StrategyOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "random"; }

  std::vector<sketch::Candidate> GenerateCandidates(int n) override {
    base::RandomStream random(base::Hasher().Add(options_.seed).Add(known_.size()).Digest());
    std::vector<sketch::Candidate> batch;
    for (const CandidatePtr& drawn :
         DrawUnknown(*options_.space, n, known_, random, *options_.pool)) {
      batch.push_back(*drawn);
    }
    return batch;
  }

  void Notify(std::span<const sketch::Candidate> candidates,
              std::span<const trial::Outcome>) override {
    for (const sketch::Candidate& candidate : candidates) known_.insert(candidate.hash);
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

}  // namespace bayloom::strategy
