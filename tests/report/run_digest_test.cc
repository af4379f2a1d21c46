// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/run_digest.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::report {
namespace {

class RunDigestTest : public testing::Test {
 protected:
  record::StoredTrial Trial(int64_t ordinal, double seconds, record::TaskId task) {
    record::StoredTrial trial = record::MakeTrial(context_, ordinal, seconds);
    trial.task = task;
    return trial;
  }
  void SetState(RunDigest& digest, const std::vector<tuning::Slot>& slots) {
    tuning::SessionState state;
    state.slots = slots;
    state.weights = {{1, 2}, {2, 1}};
    state.estimates = {{2, 7}};
    record::RunRecord run = store_.RunOf(context_.run);
    run.state = state.ToText();
    digest.SetRecord(run);
  }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "a.db"};
  const record::Context context_{store_};
};

TEST_F(RunDigestTest, ASlotIsOneTurnEvenIfItsEndIsReadLater) {
  RunDigest early(store_.RunOf(context_.run)), late(store_.RunOf(context_.run));
  const record::TaskId tasks[] = {1, 1, 1, 1, 2, 1};
  SetState(late, {{1, 2, 5}, {1, 2, 9}, {2, 1, 10}});
  for (int i = 0; i < 6; ++i) {
    if (i == 2) SetState(early, {{1, 2, 5}});
    if (i == 3) SetState(early, {{1, 2, 5}, {1, 2, 9}, {2, 1, 10}});
    early.Add(Trial(i, 1.0 / (i + 1), tasks[i]));
    late.Add(Trial(i, 1.0 / (i + 1), tasks[i]));
  }
  for (const RunDigest* digest : {&early, &late}) {
    ASSERT_EQ(digest->turns().size(), 4u);
    EXPECT_EQ(digest->turns()[1].trials, 2);
    EXPECT_EQ(digest->turns()[1].all_trials, 4);
    EXPECT_EQ(digest->tasks().at(1).turns, 3);
    EXPECT_EQ(digest->tasks().at(2).turns, 1);
  }
}

TEST_F(RunDigestTest, TasksAreComparedWithThemselves) {
  RunDigest digest(store_.RunOf(context_.run));
  SetState(digest, {});
  EXPECT_EQ(digest.EstimatedTasks(), 1);
  EXPECT_TRUE(std::isinf(digest.Latency()));  // of the first task nothing is known
  const double seconds[] = {3, 9, 4, 2};
  for (int i = 0; i < 4; ++i) digest.Add(Trial(i, seconds[i], i % 2 + 1));
  ASSERT_EQ(digest.improvements().size(), 3u);  // all but 4 s, which is more than 3 s
  EXPECT_EQ(digest.improvements().back().trial, 3);
  EXPECT_EQ(digest.Latency(), 2 * 3 + 2);
  EXPECT_EQ(digest.EstimatedTasks(), 0);
  const std::vector<RunDigest::Point> points = digest.Points();
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].latency, 2 * 3 + 7);  // the other by its estimate
  EXPECT_EQ(points[1].latency, 2 * 3 + 9);
  EXPECT_EQ(points[2].latency, digest.Latency());
  EXPECT_EQ(points[2].trials, 4);
}

/// Databases of versions that did not record when a trial ended.
TEST_F(RunDigestTest, WithoutTimesOfTrialsThoseOfSlotsCount) {
  RunDigest digest(store_.RunOf(context_.run));
  SetState(digest, {{1, 2, 5}, {1, 1, 9}});
  for (int i = 0; i < 3; ++i) {
    record::StoredTrial trial = Trial(i, 1, 1);
    trial.elapsed = 0;
    digest.Add(trial);
    EXPECT_EQ(digest.seconds(), i < 2 ? 5 : 9);
  }
}

}  // namespace
}  // namespace bayloom::report
