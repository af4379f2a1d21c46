// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/run_trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "bayloom/base/result.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

TEST(RunTrials, NumbersTheTrialsOfARunAcrossItsTasksAndResumptions) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context context(store);
  const TaskId other = store.AddTask(Matmul(8, 8, 8));
  for (int64_t round = 0; round < 2; ++round) {
    const auto ordinals = std::make_shared<RunOrdinals>(store, context.run);
    RunTrials first(store, ordinals, {.task = context.task, .target = context.target});
    RunTrials second(store, ordinals, {.task = other, .target = context.target});
    first.Add(MakeTrial(context, 10 * round + 1, 1));
    EXPECT_EQ(store.CountTrials(context.run), 3 * round + 1);  // durable at once
    second.Add(MakeTrial(context, 10 * round + 2, 1));
    first.Add(MakeTrial(context, 10 * round + 3, 1));
  }
  const std::vector<StoredTrial> trials = store.TrialsOfRun(context.run);
  ASSERT_EQ(trials.size(), 6u);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(trials[i].ordinal, i);
    EXPECT_EQ(trials[i].task, i % 3 == 1 ? other : context.task);
    EXPECT_EQ(trials[i].target, context.target);
  }
}

TEST(RunTrials, AProgramMustNotComeTwiceButAConfigurationMay) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const Context context(store);
  {
    RunTrials programs(store, std::make_shared<RunOrdinals>(store, context.run),
                       {.task = context.task, .target = context.target});
    programs.Add(MakeTrial(context, 0, 1));
    EXPECT_THAT([&] { programs.Add(MakeTrial(context, 0, 2)); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("is it running twice?")));
  }
  EXPECT_EQ(store.TrialsOfRun(context.run).at(0).outcome.value, 1);

  const RunId search = store.BeginRun(SampleSearch("flags")).id;
  RunTrials configurations(store, std::make_shared<RunOrdinals>(store, search));
  for (const int64_t x : {3, 5, 3, 6}) configurations.Add(MakeConfiguration(search, x, 1));
  const std::vector<StoredTrial> trials = store.TrialsOfRun(search);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trials[2].ordinal, 2);
  EXPECT_EQ(trials[2].candidate, MakeConfiguration(search, 6, 1).candidate);
  EXPECT_GT(trials[2].timestamp, 0);
}

TEST(RunTrials, HeldTrialsAreWrittenByFlushByTimeAndAtTheEnd) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  const RunId search = store.BeginRun(SampleSearch("flags")).id;
  const auto ordinals = std::make_shared<RunOrdinals>(store, search);
  {
    RunTrials trials(store, ordinals, {.hold_seconds = 1000});
    for (const int64_t x : {3, 5, 3}) trials.Add(MakeConfiguration(search, x, 1));
    EXPECT_EQ(store.CountTrials(search), 0);
    trials.Flush();
    EXPECT_EQ(store.CountTrials(search), 2);
    trials.Add(MakeConfiguration(search, 5, 1));
    trials.Add(MakeConfiguration(search, 7, 1));
    EXPECT_EQ(store.CountTrials(search), 2);
  }
  EXPECT_EQ(store.CountTrials(search), 3);
  RunTrials trials(store, ordinals, {.hold_seconds = 1e-9});
  trials.Add(MakeConfiguration(search, 8, 1));
  EXPECT_EQ(store.CountTrials(search), 4);
}

}  // namespace
}  // namespace bayloom::record
