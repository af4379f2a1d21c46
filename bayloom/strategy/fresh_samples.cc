// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/fresh_samples.h"

#include <algorithm>
#include <utility>

namespace bayloom::strategy {

std::vector<CandidatePtr> DrawFresh(const sketch::SpaceGenerator& space, int attempts,
                                    base::RandomStream& random, base::ThreadPool& pool) {
  const int64_t spaces = static_cast<int64_t>(space.spaces().size());
  if (spaces == 0) return {};
  std::vector<std::pair<int, base::RandomStream>> draws;
  for (int i = 0; i < attempts; ++i) {
    const int chosen = static_cast<int>(random.UniformInt(spaces));
    draws.emplace_back(chosen, random.Fork());
  }
  std::vector<CandidatePtr> samples(attempts);
  pool.ParallelFor(attempts, [&](int64_t i) {
    Result<sketch::Candidate> sample = space.Sample(draws[i].first, draws[i].second);
    if (sample) samples[i] = std::make_shared<const sketch::Candidate>(*std::move(sample));
  });
  std::erase(samples, nullptr);
  return samples;
}

int UnscoredCount(double share, int controls, int n) {
  return std::max(static_cast<int>(share * n), std::min(controls, n - 1));
}

std::vector<CandidatePtr> DrawUnknown(const sketch::SpaceGenerator& space, int count,
                                      HashSet& known, base::RandomStream& random,
                                      base::ThreadPool& pool) {
  constexpr int kMaxRound = 512;
  std::vector<CandidatePtr> found;
  int round = std::min(count, kMaxRound);
  int fruitless = 0;
  while (static_cast<int>(found.size()) < count && fruitless < kExhaustedAfter) {
    bool any = false;
    for (CandidatePtr& sample : DrawFresh(space, round, random, pool)) {
      if (static_cast<int>(found.size()) == count) break;
      if (!known.insert(sample->hash).second) continue;
      found.push_back(std::move(sample));
      any = true;
    }
    fruitless = any ? 0 : fruitless + round;
    round = std::min(2 * round, kMaxRound);
  }
  return found;
}

}  // namespace bayloom::strategy
