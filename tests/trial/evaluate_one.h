// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bayloom/base/clock.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::trial {

/// Waits for the next trial that ends, for a minute at most.
template <typename Candidate>
FinishedTrial CollectOne(Evaluator<Candidate>& evaluator) {
  const double deadline = base::MonotonicSeconds() + 60;
  while (base::MonotonicSeconds() < deadline) {
    std::vector<FinishedTrial> finished = evaluator.Collect(1, [] { return false; });
    if (finished.empty()) continue;
    EXPECT_EQ(finished.size(), 1u);
    return finished.front();
  }
  ADD_FAILURE() << "the trial did not end";
  return {};
}

/// What an evaluator, which has nothing else to do, says of a candidate.
template <typename Candidate>
Outcome EvaluateOne(Evaluator<Candidate>& evaluator, const Candidate& candidate) {
  evaluator.Submit(0, candidate);
  const FinishedTrial finished = CollectOne(evaluator);
  EXPECT_TRUE(finished.outcome) << finished.lost;
  return finished.outcome.value_or(Outcome::Infeasible(Verdict::kCrash, "lost"));
}

}  // namespace bayloom::trial
