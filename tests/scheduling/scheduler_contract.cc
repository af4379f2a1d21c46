// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/scheduling/scheduler_contract.h"

#include "tests/scheduling/curves.h"

namespace bayloom::scheduling {

TEST_P(SchedulerContract, SaysItsName) { EXPECT_EQ(Make()->name(), GetParam()); }

TEST_P(SchedulerContract, PicksNoFinishedTaskAndEveryOtherUntilAllAre) {
  const auto scheduler = Make();
  KnownSession session(UnequalTasks(40), kSlot);
  session.Finish(2);
  int slots = 0;
  while (session.RunSlot(*scheduler)) {
    EXPECT_NE(session.choices().back(), 2);
    ASSERT_LE(++slots, 5 * 5);
  }
  EXPECT_EQ(slots, 5 * 5);
  EXPECT_EQ(scheduler->Next({}), -1);
}

TEST_P(SchedulerContract, EqualSeedsMakeEqualChoices) {
  const auto one = Make(7), other = Make(7);
  KnownSession first(UnequalTasks(), kSlot), second(UnequalTasks(), kSlot);
  for (int slot = 0; slot < 40; ++slot) {
    first.RunSlot(*one);
    second.RunSlot(*other);
  }
  EXPECT_EQ(first.choices(), second.choices());
}

TEST_P(SchedulerContract, AResumedSessionGoesOnAsTheInterruptedOne) {
  const auto uninterrupted = Make();
  KnownSession whole(UnequalTasks(), kSlot), resumed(UnequalTasks(), kSlot);
  for (int slot = 0; slot < 40; ++slot) {
    whole.RunSlot(*uninterrupted);
    resumed.RunSlot(*Make());  // knows only the progress
  }
  EXPECT_EQ(whole.choices(), resumed.choices());
}

TEST_P(SchedulerContract, BearsTasksThatAreNeverFeasible) {
  const auto scheduler = Make();
  std::vector<KnownTask> tasks = UnequalTasks(64);
  std::fill(tasks[1].best_after_trial.begin(), tasks[1].best_after_trial.end(),
            std::numeric_limits<double>::infinity());
  KnownSession session(tasks, kSlot);
  for (int slot = 0; slot < 6 * 8; ++slot) ASSERT_TRUE(session.RunSlot(*scheduler));
  EXPECT_FALSE(session.RunSlot(*scheduler));
}

TEST_P(SchedulerContract, DoesNotDependOnTheUnitOfCosts) {
  const auto one = Make(), other = Make();
  std::vector<KnownTask> scaled = UnequalTasks();
  for (KnownTask& task : scaled) {
    for (double& cost : task.best_after_trial) cost /= 1024;
  }
  KnownSession first(UnequalTasks(), kSlot), second(scaled, kSlot);
  for (int slot = 0; slot < 40; ++slot) {
    first.RunSlot(*one);
    second.RunSlot(*other);
  }
  EXPECT_EQ(first.choices(), second.choices());
}

}  // namespace bayloom::scheduling
