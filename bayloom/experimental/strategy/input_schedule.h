// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <utility>

#include "bayloom/strategy/scored_candidate.h"

namespace bayloom::experimental {

/// A program that a search starts from, and the best it has led to.
struct InputSchedule {
  explicit InputSchedule(strategy::ScoredCandidate from) : start(std::move(from)) {}

  strategy::ScoredCandidate start;
  std::optional<strategy::ScoredCandidate> best;
  int feasible = 0, infeasible = 0;  ///< suggestions so far

  void Add(const strategy::ScoredCandidate& found) {
    if (!best || found.rating > best->rating) best = found;
  }
};

}  // namespace bayloom::experimental
