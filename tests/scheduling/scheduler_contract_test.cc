// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/scheduling/scheduler_contract.h"

#include "bayloom/base/result.h"

namespace bayloom::scheduling {
namespace {

INSTANTIATE_TEST_SUITE_P(All, SchedulerContract, testing::ValuesIn(TaskSchedulers().Names()),
                         SchedulerCaseName);

TEST(CreateTaskSchedulerTest, RefusesNamesItDoesNotKnow) {
  EXPECT_THROW(CreateTaskScheduler("fair", {}), InputError);
}

}  // namespace
}  // namespace bayloom::scheduling
