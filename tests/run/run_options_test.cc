// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <limits>

#include "bayloom/run/run_state.h"

namespace bayloom::run {
namespace {

const RunOptions kDefaults = {
    .budget = {.trials = 100}, .scheduler = "round-robin", .trials_per_slot = 8};

TEST(RunOptions, DefaultsFillInWhatIsLeftOpen) {
  const RunOptions open = WithDefaults({.seed = 3}, kDefaults);
  EXPECT_EQ(open.budget.trials, 100);
  EXPECT_EQ(open.scheduler, "round-robin");
  EXPECT_EQ(open.trials_per_slot, 8);
  EXPECT_EQ(open.seed, 3u);
  const RunOptions given = WithDefaults(
      {.budget = {.trials = 5}, .scheduler = "gradient", .trials_per_slot = 2}, kDefaults);
  EXPECT_EQ(given.budget.trials, 5);
  EXPECT_EQ(given.scheduler, "gradient");
  EXPECT_EQ(given.trials_per_slot, 2);
}

TEST(RunOptions, TrialsAreOpenOnlyIfNothingElseEndsTheRun) {
  EXPECT_EQ(WithDefaults({.budget = {.seconds = 1}}, kDefaults).budget.trials,
            trial::Budget::kUnlimited);
  EXPECT_EQ(WithDefaults({.until_gain_per_minute = 0.01}, kDefaults).budget.trials,
            trial::Budget::kUnlimited);
}

}  // namespace
}  // namespace bayloom::run
