// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/recorded_run.h"

#include <gtest/gtest.h>

#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

TEST(RecordedRun, GoesOnWhereItEnded) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  RecordedRun first(store, SampleSearch("flags"));
  EXPECT_FALSE(first.resumed());
  EXPECT_TRUE(first.Earlier().empty());
  first.Trials()->Add(MakeConfiguration(first.record().id, 3, 1));

  RecordedRun second(store, SampleSearch("flags"), store.RunOf(first.record().id));
  EXPECT_TRUE(second.resumed());
  EXPECT_EQ(second.record().id, first.record().id);
  ASSERT_EQ(second.Earlier().size(), 1u);
  second.Trials()->Add(MakeConfiguration(first.record().id, 5, 1));
  EXPECT_EQ(store.TrialsOfRun(first.record().id).at(1).ordinal, 1);
}

TEST(RecordedRun, IsFinishedByAnEndThatCannotBeResumedUntilItIsWrittenAgain) {
  TemporaryFolder folder;
  Store store(folder / "a.db");
  RecordedRun run(store, SampleSearch("flags"));
  const RunId id = run.record().id;
  run.End(trial::StopReason::kStopped);
  EXPECT_FALSE(store.RunOf(id).finished);
  run.End(trial::StopReason::kTrials);
  EXPECT_TRUE(store.RunOf(id).finished);
  RecordedRun resumed(store, SampleSearch("flags"), store.RunOf(id));
  EXPECT_TRUE(store.RunOf(id).finished) << "nothing was written, and it may yet be refused";
  (void)resumed.Trials();
  EXPECT_FALSE(store.RunOf(id).finished);
}

}  // namespace
}  // namespace bayloom::record
