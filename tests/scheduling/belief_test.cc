// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/belief.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "bayloom/scheduling/internal/early_termination.h"
#include "tests/scheduling/curves.h"

namespace bayloom::scheduling {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TaskProgress Progress(const std::vector<double>& best, int slot = 8, double weight = 1) {
  TaskProgress task;
  task.weight = weight;
  task.best_after_trial = best;
  for (int end = slot; end < task.trials(); end += slot) task.slot_ends.push_back(end);
  task.slot_ends.push_back(task.trials());
  return task;
}

/// Throughput rises along a log-power curve to `top` times the bound's.
TaskProgress LogPower(double top, double halfway, int trials) {
  std::vector<double> costs;
  for (int t = 1; t <= trials; ++t) costs.push_back((1 + halfway / t) / top);
  TaskProgress task = Progress(costs);
  task.lower_bound = 1;
  return task;
}

std::vector<double> GainsOf(const std::vector<TaskProgress>& tasks) {
  Belief belief({.seed = 3, .trials_per_slot = 16});
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
  jumped.lower_bound = 1.9 / 0.8;  // four fifths of it are believed
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
      GainsOf({LogPower(0.8, 40, 64), Progress(std::vector<double>(8, kInfinity)),
               Progress(std::vector<double>(64, 2.0))});
  EXPECT_EQ(gains[1], gains[0]);
  EXPECT_GT(gains[0], gains[2]);
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
  EXPECT_EQ(PacesOf(std::vector{quick, slow}), (std::vector<double>{2, 2.0 / 3}));
  EXPECT_EQ(PacesOf(std::vector{quick, unknown, slow}), (std::vector<double>{2, 1, 2.0 / 3}));
  EXPECT_EQ(PacesOf(std::vector{unknown}), (std::vector<double>{1}));
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

TEST(SoftmaxSchedulerTest, PrefersButDoesNotInsist) {
  const std::vector<TaskProgress> tasks = {LogPower(0.8, 40, 64), LogPower(0.8, 10, 64)};
  int first = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto scheduler = CreateTaskScheduler("softmax", {.seed = seed, .temperature = 1});
    first += scheduler->Next(tasks) == 0;
  }
  EXPECT_GT(first, 20);
  EXPECT_LT(first, 40);
}

TEST(EpsilonGreedySchedulerTest, ExploresAsOftenAsItIsTold) {
  const std::vector<TaskProgress> tasks = {LogPower(0.8, 10, 64), LogPower(0.8, 40, 64)};
  const auto picks = [&](double epsilon) {
    std::set<int> picked;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      picked.insert(
          CreateTaskScheduler("epsilon-greedy", {.seed = seed, .epsilon = epsilon})->Next(tasks));
    }
    return picked;
  };
  EXPECT_EQ(picks(0), std::set<int>{1});
  EXPECT_EQ(picks(1), (std::set<int>{0, 1}));
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
  const auto slots_to_reach = [](const std::string& name, double cost) {
    KnownSession session(UnequalTasks(400), 8);
    const auto scheduler = CreateTaskScheduler(name, {.seed = 5, .trials_per_slot = 8});
    while (session.CostOfTheWhole() > cost || session.choices().size() < 6) {
      if (!session.RunSlot(*scheduler)) return 10000;
    }
    return static_cast<int>(session.choices().size());
  };
  KnownSession reference(UnequalTasks(400), 8);
  const auto round_robin = CreateTaskScheduler("round-robin", {});
  for (int slot = 0; slot < 120; ++slot) reference.RunSlot(*round_robin);
  const double cost = reference.CostOfTheWhole();
  EXPECT_GE(slots_to_reach("round-robin", cost), 115);
  EXPECT_LT(slots_to_reach("dynatune", cost), 105);
  EXPECT_LT(slots_to_reach("epsilon-greedy", cost), 90);
}

}  // namespace
}  // namespace bayloom::scheduling
