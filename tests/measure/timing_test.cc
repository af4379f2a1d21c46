// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace bayloom::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A machine on which the i-th run takes a known time.
class FakeMachine {
 public:
  explicit FakeMachine(std::function<double(int)> cost) : cost_(std::move(cost)) {}

  Timing Time(double first, double cut, const TimingOptions& options = {}) {
    return TimeRuns(
        first, cut, [&] { clock_ += cost_(runs_++); }, [&] { return clock_; }, [&] { ++flushes_; },
        options);
  }
  int runs() const { return runs_; }
  int flushes() const { return flushes_; }
  double clock() const { return clock_; }

 private:
  std::function<double(int)> cost_;
  double clock_ = 100;
  int runs_ = 0;
  int flushes_ = 0;
};

TEST(Timing, SummaryOfKnownValues) {
  const std::vector<double> values = {4, 1, 3, 2};
  const Timing summary = Summarize(values);
  EXPECT_DOUBLE_EQ(summary.seconds, 2.5);
  EXPECT_DOUBLE_EQ(summary.spread, 1.5 / 2.5);
}

TEST(Timing, ShortRunsAreTimedInBatchesForTheMinimumTime) {
  FakeMachine machine([](int) { return 1e-6; });
  const Timing timing = machine.Time(1e-4, kInfinity);
  EXPECT_NEAR(timing.seconds, 1e-6, 1e-12);
  EXPECT_NEAR(timing.spread, 0, 1e-6);
  EXPECT_FALSE(timing.cut_short);
  EXPECT_GE(machine.clock() - 100, 0.03);
  EXPECT_LT(machine.clock() - 100, 0.031);
  EXPECT_EQ(timing.runs, machine.runs());
}

/// As of launches of kernels, of which the first of a batch takes longer.
TEST(Timing, BatchesAreLongEnoughForWhatBeginningThemCosts) {
  constexpr double kBegin = 20e-6, kRun = 1e-6;
  int64_t longest = 0;
  const Timing timing = TimeBatches(kBegin + kRun, kInfinity,
                                    [&](int64_t count) {
                                      longest = std::max(longest, count);
                                      return kBegin + kRun * static_cast<double>(count);
                                    },
                                    {.min_batch_seconds = 1e-3, .min_total_seconds = 8e-3});
  EXPECT_LT(timing.seconds, 1.05 * kRun);
  EXPECT_LT(longest, 2000);
}

TEST(Timing, WhatBeginningABatchCostsCutsNoShortRunsShort) {
  const auto time = [](double run_seconds, double cut_seconds) {
    return TimeBatches(
        25e-6, cut_seconds,
        [&](int64_t count) { return 8e-6 + run_seconds * static_cast<double>(count); }, {});
  };
  EXPECT_FALSE(time(1e-6, 3e-6).cut_short);
  EXPECT_TRUE(time(6e-6, 3e-6).cut_short);
}

TEST(Timing, LongRunsAreRepeatedOftenEnoughForAMedian) {
  FakeMachine machine([](int) { return 0.05; });
  EXPECT_NEAR(machine.Time(0.06, kInfinity).seconds, 0.05, 1e-9);
  EXPECT_EQ(machine.runs(), 5);
  FakeMachine slow([](int) { return 3.0; });
  EXPECT_NEAR(slow.Time(3.0, kInfinity).seconds, 3.0, 1e-9);
  EXPECT_EQ(slow.runs(), 1);
}

TEST(Timing, TheMedianIgnoresDisturbances) {
  FakeMachine machine([](int i) { return i % 4 == 3 ? 10e-3 : 1e-3; });
  const Timing timing = machine.Time(1e-3, kInfinity);
  EXPECT_NEAR(timing.seconds, 1e-3, 1e-9);
}

TEST(Timing, ClearlySlowCandidatesAreCutAfterOneRun) {
  FakeMachine machine([](int) { return 0.1; });
  const Timing timing = machine.Time(0.13, 0.03);
  EXPECT_TRUE(timing.cut_short);
  EXPECT_DOUBLE_EQ(timing.seconds, 0.13);
  EXPECT_EQ(machine.runs(), 0);
}

TEST(Timing, SlowCandidatesAreCutAfterWarmingUp) {
  FakeMachine machine([](int) { return 0.04; });
  const Timing timing = machine.Time(0.06, 0.03);
  EXPECT_TRUE(timing.cut_short);
  EXPECT_NEAR(timing.seconds, 0.04, 1e-9);
  EXPECT_EQ(machine.runs(), 1);
  FakeMachine shorter([](int i) { return i == 0 ? 5e-3 : 4e-3; });
  EXPECT_NEAR(shorter.Time(6e-3, 3e-3).seconds, 4e-3, 1e-9);
  EXPECT_EQ(shorter.runs(), 2);
}

TEST(Timing, AColdFirstRunDoesNotCondemnAFastCandidate) {
  FakeMachine machine([](int i) { return i == 0 ? 5e-5 : 1e-5; });
  const Timing timing = machine.Time(4e-3, 2e-5);  // 200 times too slow: starting threads
  EXPECT_FALSE(timing.cut_short);
  EXPECT_NEAR(timing.seconds, 1e-5, 1e-9);
}

TEST(Timing, FlushingTimesSingleRuns) {
  TimingOptions options;
  options.flush_cache = true;
  FakeMachine machine([](int) { return 1e-3; });
  EXPECT_NEAR(machine.Time(1e-3, kInfinity, options).seconds, 1e-3, 1e-9);
  EXPECT_EQ(machine.flushes(), machine.runs());
}

}  // namespace
}  // namespace bayloom::measure
