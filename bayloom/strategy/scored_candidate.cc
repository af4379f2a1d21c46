// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/scored_candidate.h"

#include <algorithm>

namespace bayloom::strategy {

void KeepBest(std::vector<ScoredCandidate>& entries, size_t size) {
  std::sort(entries.begin(), entries.end(), [](const ScoredCandidate& a, const ScoredCandidate& b) {
    if (a.rating != b.rating) return a.rating > b.rating;
    return a.candidate->hash < b.candidate->hash;
  });
  if (entries.size() > size) entries.resize(size);
}

std::vector<double> ScoreMemo::Score(std::span<const CandidatePtr> candidates) {
  std::vector<const sketch::Candidate*> unscored;
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

}  // namespace bayloom::strategy
