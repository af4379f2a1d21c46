// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/scheduling/schedulers.h"

#include <gtest/gtest.h>

#include <set>

#include "bayloom/experimental/register.h"
#include "tests/scheduling/curves.h"
#include "tests/scheduling/scheduler_contract.h"

namespace bayloom::scheduling {

std::vector<std::string> ExperimentalSchedulers() {
  experimental::Register();
  return TaskSchedulers().ExperimentalNames();
}

INSTANTIATE_TEST_SUITE_P(Experimental, SchedulerContract,
                         testing::ValuesIn(ExperimentalSchedulers()), SchedulerCaseName);

}  // namespace bayloom::scheduling

namespace bayloom::experimental {
namespace {

using scheduling::LogPower;
using scheduling::Progress;
using scheduling::TaskProgress;

TEST(SoftmaxSchedulerTest, PrefersButDoesNotInsist) {
  const std::vector<TaskProgress> tasks = {LogPower(0.8, 40, 64), LogPower(0.8, 10, 64)};
  int first = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    first += MakeSoftmaxScheduler({.seed = seed}, 1)->Next(tasks) == 0;
  }
  EXPECT_GT(first, 20);
  EXPECT_LT(first, 40);
}

TEST(EpsilonGreedySchedulerTest, ExploresAsOftenAsItIsTold) {
  const std::vector<TaskProgress> tasks = {LogPower(0.8, 10, 64), LogPower(0.8, 40, 64)};
  const auto picks = [&](double epsilon) {
    std::set<int> picked;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      picked.insert(MakeEpsilonGreedyScheduler({.seed = seed}, epsilon)->Next(tasks));
    }
    return picked;
  };
  EXPECT_EQ(picks(0), std::set<int>{1});
  EXPECT_EQ(picks(1), (std::set<int>{0, 1}));
}

TEST(EpsilonGreedySchedulerTest, ConvergesSoonerThanRoundRobin) {
  Register();
  const double cost =
      scheduling::CostAfterSlots(*scheduling::CreateTaskScheduler("round-robin", {}), 120);
  EXPECT_LT(scheduling::SlotsToReach("epsilon-greedy", cost), 90);
}

TEST(DynamicSchedulerTest, SkipsTasksThatStoppedImprovingWhileAnotherImproves) {
  Register();
  const scheduling::TaskSchedulerOptions options = {.patience = 3};
  TaskProgress resting = Progress({9, 5, 5, 5, 5}), improving = Progress({9, 8, 7, 6, 5}, 2);
  ASSERT_LT(resting.slots(), improving.slots());
  const auto plain = scheduling::CreateTaskScheduler("round-robin", options);
  const auto dynamic = scheduling::CreateTaskScheduler("dynamic-round-robin", options);
  EXPECT_EQ(plain->Next(std::vector{resting, improving}), 0);
  EXPECT_EQ(dynamic->Next(std::vector{resting, improving}), 1);
  improving.finished = true;
  EXPECT_EQ(dynamic->Next(std::vector{resting, improving}), 0);
  resting.finished = true;
  EXPECT_EQ(dynamic->Next(std::vector{resting, improving}), -1);
}

}  // namespace
}  // namespace bayloom::experimental
