// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/learning_curve_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "bayloom/scheduling/early_termination.h"
#include "tests/scheduling/curves.h"

namespace bayloom::scheduling {
namespace {

std::vector<double> GainsOf(const std::vector<TaskProgress>& tasks) {
  LearningCurveForecast belief({.seed = 3, .trials_per_slot = 16});
  std::vector<int> all(tasks.size());
  std::iota(all.begin(), all.end(), 0);
  return belief.ExpectedGains(tasks, all);
}

TEST(BeliefTest, ForeseesTheCostOnALogPowerCurve) {
  const TaskProgress task = LogPower(0.8, 40, 64);
  const double after = (1 + 40.0 / 80) / 0.8;
  const double gain = task.best() - after;
  EXPECT_NEAR(GainsOf({task})[0], gain, 0.1 * gain);
}

TEST(BeliefTest, GainsCountAsOftenAsTheTaskRuns) {
  TaskProgress task = LogPower(0.8, 40, 64);
  const double once = GainsOf({task})[0];
  task.weight = 5;
  EXPECT_DOUBLE_EQ(GainsOf({task})[0], 5 * once);
}

TEST(BeliefTest, LittleIsToBeHadWhereTheCurveIsFlatOrTheBoundIsNear) {
  const double rising = GainsOf({LogPower(0.8, 40, 64)})[0];
  TaskProgress flat = Progress(std::vector<double>(64, 2.0));
  EXPECT_LT(GainsOf({flat})[0], 0.1 * rising);
  // One jump a moment ago: anything may follow, unless the machine can do no more.
  std::vector<double> costs(64, 4.0);
  costs.back() = 2.0;
  TaskProgress jumped = Progress(costs);
  const double open = GainsOf({jumped})[0];
  jumped.lower_bound = 1.9 / 0.8;  // four fifths of it are trusted
  EXPECT_GT(open, 0.1);
  EXPECT_LT(GainsOf({jumped})[0], 0.1);
}

TEST(BeliefTest, ABoundThatWasBeatenIsNone) {
  TaskProgress task = Progress(std::vector<double>(32, 2.0));
  const double without = GainsOf({task})[0];
  task.lower_bound = 3;
  EXPECT_EQ(GainsOf({task})[0], without);
}

TEST(BeliefTest, ATaskWithoutAnythingFeasibleIsWorthTheBestOfTheOthers) {
  const std::vector<double> gains =
      GainsOf({LogPower(0.8, 40, 64), Progress(std::vector<double>(8, INFINITY)),
               Progress(std::vector<double>(64, 2.0))});
  EXPECT_EQ(gains[1], gains[0]);
  EXPECT_GT(gains[0], gains[2]);
}

TaskProgress Timed(TaskProgress task, double seconds_a_trial = 0.1) {
  task.seconds = seconds_a_trial * task.trials();
  return task;
}

std::optional<double> ShareWithin(const std::vector<TaskProgress>& tasks, double seconds) {
  return LearningCurveForecast({.seed = 3, .trials_per_slot = 16}).ShareWithin(tasks, seconds);
}

TEST(ShareWithin, FollowsALogPowerCurveOverSeveralSlots) {
  const TaskProgress task = Timed(LogPower(0.8, 40, 64));
  const double after = (1 + 40.0 / 160) / 0.8;  // 96 trials later
  const double share = (task.best() - after) / task.best();
  EXPECT_NEAR(ShareWithin({task}, 9.6).value(), share, 0.1 * share);
}

TEST(ShareWithin, GrowsWithTheTimeAndIsAShareOfAllTasks) {
  const TaskProgress rising = Timed(LogPower(0.8, 40, 64));
  double before = 0;
  for (const double seconds : {1.0, 3.0, 10.0, 30.0}) {
    const double share = ShareWithin({rising}, seconds).value();
    EXPECT_GT(share, before);
    EXPECT_LT(share, 1);
    before = share;
  }
  TaskProgress finished = rising;
  finished.finished = true;
  EXPECT_DOUBLE_EQ(ShareWithin({rising, finished}, 10).value(),
                   ShareWithin({rising}, 10).value() / 2);
  EXPECT_EQ(ShareWithin({finished, finished}, 10), 0);
}

TEST(ShareWithin, GoesToWhatGainsTheMostASecond) {
  const TaskProgress quick = Timed(LogPower(0.8, 40, 64), 0.1);
  const TaskProgress slow = Timed(LogPower(0.8, 40, 64), 100);
  // What the slow one gains within ten seconds is next to nothing.
  const double quick_alone = ShareWithin({quick}, 10).value() / 2;
  EXPECT_NEAR(ShareWithin({quick, slow}, 10).value(), quick_alone, 0.01 * quick_alone);
  EXPECT_LT(ShareWithin({slow}, 10).value(), 0.01);
}

TEST(ShareWithin, OfTrialsThatTakeNextToNoTimeIsBoundedInCost) {
  const double share = ShareWithin({Timed(LogPower(0.8, 40, 64), 1e-9)}, 60).value();
  EXPECT_GT(share, 0.3);  // (1 + 40 / 64) to about 1
  EXPECT_LT(share, 0.5);
}

TEST(ShareWithin, LeavesOutWhatHasHadNothingFeasibleForSeveralSlots) {
  const TaskProgress rising = Timed(LogPower(0.8, 40, 64));
  const TaskProgress hopeless = Timed(Progress(std::vector<double>(24, INFINITY), 8));
  EXPECT_EQ(ShareWithin({rising, hopeless}, 10), ShareWithin({rising}, 10));
  EXPECT_EQ(ShareWithin({hopeless}, 10), 0);
}

TEST(ShareWithin, IsUnknownUntilEveryTaskHasATime) {
  const TaskProgress known = Timed(LogPower(0.8, 40, 64));
  EXPECT_FALSE(ShareWithin({known, TaskProgress()}, 60));
  EXPECT_FALSE(ShareWithin({known, LogPower(0.8, 40, 64)}, 60));
  EXPECT_FALSE(ShareWithin({known, Timed(Progress(std::vector<double>(8, INFINITY)))}, 60));
}

TEST(EarlyTerminationTest, TasksThatStoppedImprovingRestUntilAllHave) {
  TaskProgress improving = Progress({9, 8, 7, 6, 5}), resting = Progress({9, 5, 5, 5, 5});
  TaskProgress young = Progress({9, 9, 9}), finished = Progress({9, 8, 7});
  finished.finished = true;
  EXPECT_EQ(ImprovingTasks(std::vector{resting, improving, finished, young}, 3),
            (std::vector<int>{1, 3}));
  EXPECT_EQ(ImprovingTasks(std::vector{resting, finished, resting}, 3), (std::vector<int>{0, 2}));
  EXPECT_TRUE(ImprovingTasks(std::vector{finished}, 3).empty());
}

TEST(BeliefTest, PacesCompareWhatATrialTakes) {
  TaskProgress quick = Progress(std::vector<double>(8, 1.0)), slow = quick, unknown = quick;
  quick.seconds = 8;
  slow.seconds = 24;
  EXPECT_EQ(RatesOf(std::vector{quick, slow}), (std::vector<double>{2, 2.0 / 3}));
  EXPECT_EQ(RatesOf(std::vector{quick, unknown, slow}), (std::vector<double>{2, 1, 2.0 / 3}));
  EXPECT_EQ(RatesOf(std::vector{unknown}), (std::vector<double>{1}));
}

TEST(DynaTuneSchedulerTest, PrefersWhatTakesLessTime) {
  TaskProgress quick = LogPower(0.8, 40, 64), slow = LogPower(0.8, 40, 64);
  quick.seconds = 8;
  slow.seconds = 16;
  slow.weight = 1.5;
  const auto scheduler = CreateTaskScheduler("dynatune", {});
  EXPECT_EQ(scheduler->Next(std::vector{slow, quick}), 1);
  slow.weight = 3;
  EXPECT_EQ(scheduler->Next(std::vector{slow, quick}), 0);
}

TEST(DynaTuneSchedulerTest, PicksTheUpperBoundComputedByHand) {
  // Nothing is to be gained: what counts is unit * sqrt(C ln t / picks), and the fewest picks win.
  TaskProgress often = Progress(std::vector<double>(64, 1.0), 8);
  TaskProgress seldom = Progress(std::vector<double>(64, 1.0), 16);
  for (TaskProgress* task : {&often, &seldom}) task->lower_bound = 1;
  const auto curious =
      CreateTaskScheduler("dynatune", {.exploration = 2, .exploration_unit = 1e-3});
  EXPECT_EQ(curious->Next(std::vector{often, seldom}), 1);

  // 16 slots in all, 8 each. The gain of the rising one is about 0.09 (of a cost of 1.53), so that
  // a bonus decides only where picks differ by enough: sqrt(C ln t) (1/sqrt(p) - 1/sqrt(8)).
  const TaskProgress rising = LogPower(0.8, 10, 64);
  const double gain = GainsOf({rising})[0];
  TaskProgress rare = Progress(std::vector<double>(64, 1.0), 32);  // 2 slots
  rare.lower_bound = 1;
  const double advantage = std::sqrt(std::log(10)) * (1 / std::sqrt(2) - 1 / std::sqrt(8));
  const double root = gain / advantage;  // of the C at which both are alike
  for (const double factor : {0.9, 1.1}) {
    const auto scheduler =
        CreateTaskScheduler("dynatune", {.seed = 3,
                                         .trials_per_slot = 16,
                                         .exploration = factor * factor * root * root,
                                         .exploration_unit = 1});
    EXPECT_EQ(scheduler->Next(std::vector{rising, rare}), factor < 1 ? 0 : 1);
  }
}

TEST(LinearSchedulerTest, DividesTrialsByWorkAndWeight) {
  std::vector<KnownTask> tasks(3, KnownTask{1, 1, std::vector<double>(400, 1.0)});
  tasks[1].work = 3;
  tasks[2].weight = 4;
  KnownSession session(tasks, 8);
  const auto scheduler = CreateTaskScheduler("linear", {});
  for (int slot = 0; slot < 48; ++slot) session.RunSlot(*scheduler);
  EXPECT_NEAR(session.progress()[0].slots(), 6, 1);
  EXPECT_NEAR(session.progress()[1].slots(), 18, 1);
  EXPECT_NEAR(session.progress()[2].slots(), 24, 1);
}

TEST(DynaTuneSchedulerTest, ConvergesSoonerThanRoundRobin) {
  const double cost = CostAfterSlots(*CreateTaskScheduler("round-robin", {}), 120);
  EXPECT_GE(SlotsToReach("round-robin", cost), 115);
  EXPECT_LT(SlotsToReach("dynatune", cost), 105);
}

}  // namespace
}  // namespace bayloom::scheduling
