// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/drift_watch.h"

#include <gtest/gtest.h>

namespace bayloom::remote {
namespace {

/// A comparison in which each worker always takes as long as said.
std::vector<DriftWatch::Slow> Compare(DriftWatch& watch, const std::vector<double>& seconds) {
  std::vector<int> workers;
  for (int worker = 0; worker < std::ssize(seconds); ++worker) workers.push_back(worker);
  watch.Begin(workers);
  for (const int worker : workers) {
    EXPECT_EQ(watch.Due(worker), DriftWatch::kProbes);
    for (int i = 0; i < DriftWatch::kProbes; ++i) {
      EXPECT_TRUE(watch.Conclude().empty());  // not before all are there
      watch.Ask(worker);
      watch.Tell(worker, seconds[worker]);
    }
  }
  return watch.Conclude();
}

TEST(DriftWatch, BelievesItTheSecondTime) {
  DriftWatch watch(0.05);
  EXPECT_TRUE(Compare(watch, {1, 1.04, 1.06}).empty());
  const std::vector<DriftWatch::Slow> slow = Compare(watch, {1, 1.04, 1.06});
  ASSERT_EQ(slow.size(), 1);
  EXPECT_EQ(slow[0].worker, 2);
  EXPECT_EQ(slow[0].fastest, 0);
  EXPECT_DOUBLE_EQ(slow[0].ratio, 1.06);
  EXPECT_FALSE(watch.is_under_way());
}

TEST(DriftWatch, ForgivesWhatWasOnce) {
  DriftWatch watch(0.05);
  EXPECT_TRUE(Compare(watch, {1, 2}).empty());
  EXPECT_TRUE(Compare(watch, {1, 1}).empty());
  EXPECT_TRUE(Compare(watch, {1, 2}).empty());
}

TEST(DriftWatch, TakesMedians) {
  DriftWatch watch(0.05);
  for (int i = 0; i < 3; ++i) {
    watch.Begin({0, 1});
    for (const double value : {1.0, 9.0, 1.0}) watch.Tell(0, value);
    for (const double value : {1.0, 1.0, 9.0}) watch.Tell(1, value);
    EXPECT_TRUE(watch.Conclude().empty());
    EXPECT_FALSE(watch.is_under_way());
  }
}

TEST(DriftWatch, GoesOnWithoutAWorkerThatFailsOrEnds) {
  DriftWatch watch(0.05);
  watch.Begin({0, 1, 2});
  watch.Tell(0, std::nullopt);
  watch.Forget(1);
  EXPECT_EQ(watch.Due(0), 0);
  for (int i = 0; i < DriftWatch::kProbes; ++i) watch.Tell(2, 1);
  EXPECT_TRUE(watch.Conclude().empty());
  EXPECT_FALSE(watch.is_under_way());
}

TEST(DriftWatch, ComparesNobodyWithHimself) {
  DriftWatch watch(0.05);
  watch.Begin({4});
  EXPECT_FALSE(watch.is_under_way());
}

}  // namespace
}  // namespace bayloom::remote
