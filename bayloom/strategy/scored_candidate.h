// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/strategy/strategy.h"

namespace bayloom::strategy {

/// A program and a number that says how good it is.
struct ScoredCandidate {
  double rating;
  CandidatePtr candidate;
};

/// Keeps the `size` entries with the highest ratings, best first; equal ratings go by hash.
void KeepBest(std::vector<ScoredCandidate>& entries, size_t size);

/// Asks the scorer about every program once.
class ScoreMemo {
 public:
  /// `scorer` must outlive it.
  explicit ScoreMemo(const Scorer& scorer) : scorer_(scorer) {}

  /// Scores, clamped below at 0.
  std::vector<double> Score(std::span<const CandidatePtr> candidates);

 private:
  const Scorer& scorer_;
  std::unordered_map<uint64_t, double> scores_;
};

}  // namespace bayloom::strategy
