// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/threaded_evaluator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>

#include "bayloom/base/clock.h"
#include "tests/patience.h"

namespace bayloom::trial {
namespace {

bool Never() { return false; }

std::optional<Outcome> SleepUntilStopped(const int&, const std::stop_token& stop) {
  while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::nullopt;
}

TEST(ThreadedEvaluator, HandsBackEveryTrialWithItsNumber) {
  std::vector<ThreadedEvaluator<int>::Function> functions(
      3, [](const int& candidate, const std::stop_token&) {
        return std::optional(Outcome::Feasible(2 * candidate));
      });
  ThreadedEvaluator<int> evaluator(functions);
  ASSERT_EQ(evaluator.Capacity(), 3);
  const std::vector<int> candidates = {5, 6, 7};
  for (TrialId i = 0; i < 3; ++i) evaluator.Submit(i, candidates[i]);
  std::set<TrialId> seen;
  while (seen.size() < 3) {
    for (const FinishedTrial& trial : evaluator.Collect(kPatienceSeconds, Never)) {
      EXPECT_EQ(trial.outcome->value, 2 * candidates[trial.id]);
      EXPECT_TRUE(seen.insert(trial.id).second);
    }
  }
}

TEST(ThreadedEvaluator, CollectWaitsAsLongAsAskedToOrUntilAStop) {
  ThreadedEvaluator<int> evaluator({SleepUntilStopped});
  const int candidate = 1;
  evaluator.Submit(0, candidate);
  const double begun = base::MonotonicSeconds();
  EXPECT_TRUE(evaluator.Collect(0.05, Never).empty());
  EXPECT_GE(base::MonotonicSeconds() - begun, 0.04);
  EXPECT_TRUE(evaluator.Collect(60, [] { return true; }).empty());
  EXPECT_LT(base::MonotonicSeconds() - begun, kPatienceSeconds);
}

TEST(ThreadedEvaluator, CancelEndsWhatRunsAndItGoesOnAfterwards) {
  std::atomic<bool> sleeps = true;
  ThreadedEvaluator<int> evaluator({[&](const int& candidate, const std::stop_token& stop) {
    return sleeps ? SleepUntilStopped(candidate, stop) : std::optional(Outcome::Feasible(1));
  }});
  const int candidate = 1;
  evaluator.Submit(0, candidate);
  evaluator.Cancel();
  sleeps = false;
  evaluator.Submit(1, candidate);
  const std::vector<FinishedTrial> finished = evaluator.Collect(kPatienceSeconds, Never);
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].id, 1);
}

TEST(ThreadedEvaluator, WhatTheMachineRefusesLosesATrialAndOtherFailuresAreThrown) {
  std::atomic<int> calls = 0;
  ThreadedEvaluator<int> evaluator(
      {[&](const int&, const std::stop_token&) -> std::optional<Outcome> {
        if (calls++ == 0) throw SystemError("the disk is full");
        throw std::logic_error("a fault");
      }});
  const int candidate = 1;
  evaluator.Submit(0, candidate);
  const std::vector<FinishedTrial> finished = evaluator.Collect(kPatienceSeconds, Never);
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_FALSE(finished[0].outcome);
  EXPECT_EQ(finished[0].lost, "the disk is full");
  evaluator.Submit(1, candidate);
  EXPECT_THROW(evaluator.Collect(kPatienceSeconds, Never), std::logic_error);
}

}  // namespace
}  // namespace bayloom::trial
