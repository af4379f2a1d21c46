// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/scheduling/improvement_rates.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "tests/scheduling/curves.h"

namespace bayloom::scheduling {
namespace {

/// The cost falls along a power of the trials.
TaskProgress PowerOfTrials(double exponent, int trials) {
  std::vector<double> costs;
  for (int t = 1; t <= trials; ++t) costs.push_back(std::pow(t, -exponent));
  return Progress(costs);
}

TEST(ImprovementRates, FollowAPowerOfTheTrialsThatAllTasksShare) {
  const std::vector<TaskProgress> tasks(20, PowerOfTrials(0.5, 64));
  const ImprovementRates rates(tasks);
  // From 64 to 128 trials a cost falls by 2^-0.5; that octave was not seen, and is taken for
  // slower.
  const double share = rates.ShareOfCost(0, 64);
  EXPECT_LT(share, 1 - std::pow(2, -0.5));
  EXPECT_GT(share, 1 - std::pow(2, -0.5 * 0.8));
  for (const double rate : rates.rates()) EXPECT_NEAR(rate, 0.5 * std::log(2), 0.03);
  for (const double frailty : rates.frailties()) EXPECT_NEAR(frailty, 1, 0.05);
}

TEST(ImprovementRates, WhatImprovesIsExpectedToGoOnAndWhatNothingIsKnownOfIsAsTheOthers) {
  const std::vector<TaskProgress> tasks = {PowerOfTrials(0.6, 64), PowerOfTrials(0.3, 64),
                                           Progress(std::vector<double>(64, 1.0)), TaskProgress()};
  const ImprovementRates rates(tasks);
  EXPECT_GT(rates.frailties()[0], 1);
  EXPECT_GT(rates.ShareOfCost(0, 16), rates.ShareOfCost(1, 16));
  EXPECT_GT(rates.ShareOfCost(1, 16), rates.ShareOfCost(2, 16));
  EXPECT_GT(rates.ShareOfCost(2, 16), 0);
  EXPECT_EQ(rates.frailties()[3], 1);
  EXPECT_GT(rates.ShareOfCost(3, 16), rates.ShareOfCost(0, 16));
}

TEST(ImprovementRates, AShareOfTheCostIsLessThanAllAndGrowsWithTheTrials) {
  const ImprovementRates rates(std::vector{PowerOfTrials(3, 8)});
  double before = 0;
  for (const int trials : {1, 4, 16, 64, 1024}) {
    const double share = rates.ShareOfCost(0, trials);
    EXPECT_GT(share, before);
    EXPECT_LT(share, 1);
    before = share;
  }
}

int Choose(const std::vector<TaskProgress>& tasks, TaskSchedulerOptions options = {}) {
  options.trials_per_slot = 8;
  return CreateTaskScheduler("expected-improvement", options)->Next(tasks);
}

TaskProgress Untried(double expected_cost, double weight = 1) {
  TaskProgress task;
  task.expected_cost = expected_cost;
  task.weight = weight;
  return task;
}

TEST(ExpectedImprovementScheduler, TasksThatMayTakeThePlaceOfOthersCountByTheirChance) {
  std::vector<TaskProgress> tasks(3, PowerOfTrials(0.5, 16));
  tasks[0].weight = tasks[2].weight = 1;
  tasks[1].weight = 0;
  tasks[1].chance = 1.5;
  EXPECT_EQ(Choose(tasks), 1);
  tasks[1].chance = 0.5;
  EXPECT_NE(Choose(tasks), 1);
}

TEST(ExpectedImprovementScheduler, BeginsWithWhatIsExpectedToCostTheMost) {
  EXPECT_EQ(Choose({Untried(1), Untried(5), Untried(2, 2)}), 1);
  EXPECT_EQ(Choose({Untried(1), Untried(5), Untried(2, 3)}), 2);
  EXPECT_EQ(Choose({Untried(9), Untried(0), Untried(0)}), 1);  // nothing is known of it
}

TEST(ExpectedImprovementScheduler, WhatIsSmallWaitsButNotForever) {
  TaskProgress large = PowerOfTrials(0.5, 16);
  large.expected_cost = 1;
  EXPECT_EQ(Choose({large, Untried(1)}), 1);
  EXPECT_EQ(Choose({large, Untried(0.01)}), 0);
  // A costly first program says that the machine's limits are far away, of the others as well.
  for (double& cost : large.best_after_trial) cost *= 1000;
  large.weight = 1e-3;
  EXPECT_EQ(Choose({large, Untried(0.01)}), 1);

  TaskProgress lasting = PowerOfTrials(0.5, 32);
  lasting.expected_cost = 1;
  EXPECT_EQ(Choose({lasting, Untried(0.001)}), 1);  // four slots for two tasks
  EXPECT_EQ(Choose({large, Untried(1e-9)}, {.max_trials = 31}), 1);
  EXPECT_EQ(Choose({large, Untried(1e-9)}, {.max_trials = 100}), 0);
}

TEST(ExpectedImprovementScheduler, PrefersWhatCostsMoreAndHadFewerTrials) {
  TaskProgress one = PowerOfTrials(0.5, 32), other = one;
  one.weight = 1.1;
  EXPECT_EQ(Choose({other, one}), 1);
  other = PowerOfTrials(0.5, 16);
  EXPECT_EQ(Choose({other, one}), 0);
}

TEST(ExpectedImprovementScheduler, IsGradientOnceAllHaveACost) {
  base::RandomStream random(5);
  int differ = 0;
  for (int network = 0; network < 50; ++network) {
    std::vector<TaskProgress> tasks;
    for (int i = 0; i < 6; ++i) {
      tasks.push_back(PowerOfTrials(0.1 + 0.5 * random.Uniform(),
                                    8 * (1 + static_cast<int>(random.UniformInt(2)))));
      tasks.back().weight = random.Uniform();
      tasks.back().expected_cost = 1;
    }
    const TaskSchedulerOptions options = {.trials_per_slot = 8};
    const auto gradient = CreateTaskScheduler("gradient", options);
    EXPECT_EQ(Choose(tasks), gradient->Next(tasks));
    tasks.push_back(Untried(1e-3));
    differ += Choose(tasks) != gradient->Next(tasks);
  }
  EXPECT_GT(differ, 25);
}

TEST(ExpectedImprovementScheduler, GivesUpSlowlyOnWhatIsNeverFeasible) {
  const TaskProgress rising = PowerOfTrials(0.5, 64);
  EXPECT_EQ(Choose({rising, Progress(std::vector<double>(8, INFINITY))}), 1);
  EXPECT_EQ(Choose({rising, Progress(std::vector<double>(2048, INFINITY))}), 0);
}

/// A network as tunings find them: costs differ by three orders of magnitude, and each task goes
/// down in steps that come less and less often and are of its own size, to a floor.
std::vector<KnownTask> RandomNetwork(base::RandomStream& random, int trials) {
  std::vector<KnownTask> tasks;
  for (int i = 0; i < 16; ++i) {
    const double work = std::exp(1.5 * random.Normal());
    const double weight = 1.0 + static_cast<double>(random.UniformInt(4));
    const double floor = work * std::exp(0.5 * random.Normal());
    const double step = std::exp(-1 + 0.7 * random.Normal());
    double room = floor * std::exp(0.5 + random.Normal());
    KnownTask task{weight, work, {}};
    for (int t = 1; t <= trials; ++t) {
      if (random.Uniform() < 1.5 / (t + 1.0)) room *= std::exp(-step);
      task.best_after_trial.push_back(floor + room);
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// Latency averaged over the slots, over that when all is done; what had no slot yet counts with
/// its first program.
double MeanExcess(const std::string& scheduler, const std::vector<KnownTask>& tasks, int slots) {
  constexpr int kSlot = 8;
  KnownSession session(tasks, kSlot);
  const auto chooser = CreateTaskScheduler(
      scheduler, {.seed = 1, .max_trials = slots * kSlot, .trials_per_slot = kSlot});
  double sum = 0, last = 0;
  for (const KnownTask& task : tasks) last += task.weight * task.best_after_trial.back();
  for (int slot = 0; slot < slots; ++slot) {
    if (!session.RunSlot(*chooser)) break;
    for (size_t i = 0; i < tasks.size(); ++i) {
      sum += tasks[i].weight *
             std::min(session.progress()[i].best(), tasks[i].best_after_trial.front());
    }
  }
  return sum / slots / last - 1;
}

TEST(ExpectedImprovementScheduler, IsNoWorseThanTheOthersOnRandomNetworks) {
  base::RandomStream random(11);
  std::map<std::string, double> excess;
  for (int network = 0; network < 12; ++network) {
    const std::vector<KnownTask> tasks = RandomNetwork(random, 96);
    for (const char* scheduler : {"expected-improvement", "gradient", "linear", "round-robin"}) {
      excess[scheduler] += MeanExcess(scheduler, tasks, 96) / 12;
    }
  }
  for (const auto& [scheduler, mean] : excess) {
    EXPECT_LE(excess["expected-improvement"], mean) << scheduler;
  }
}

}  // namespace
}  // namespace bayloom::scheduling
