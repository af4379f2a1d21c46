// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace bayloom::scheduling {
namespace {

/// A task whose best latency after each of its slots (of two trials) was `best`.
TaskProgress ProgressBySlot(double weight, const std::vector<double>& best) {
  TaskProgress task;
  task.weight = weight;
  for (double seconds : best) {
    task.best_after_trial.insert(task.best_after_trial.end(), 2, seconds);
    task.slot_ends.push_back(task.trials());
  }
  return task;
}

TEST(TaskProgressTest, ReadsTheLearningCurve) {
  TaskProgress task = ProgressBySlot(1, {5, 3});
  EXPECT_EQ(task.trials(), 4);
  EXPECT_EQ(task.slots(), 2);
  EXPECT_EQ(task.BestAfterSlot(0), 5);
  EXPECT_EQ(task.best(), 3);
  EXPECT_EQ(TaskProgress().best(), INFINITY);
}

TEST(GradientSchedulerTest, GivesEveryTaskOneSlotFirst) {
  auto scheduler = CreateTaskScheduler("gradient", {});
  std::vector<TaskProgress> tasks = {ProgressBySlot(1, {100}), ProgressBySlot(1, {}),
                                     ProgressBySlot(1, {})};
  EXPECT_EQ(scheduler->Next(tasks), 1);
  tasks[1] = ProgressBySlot(1, {1});
  EXPECT_EQ(scheduler->Next(tasks), 2);
}

TEST(GradientSchedulerTest, PicksAsComputedByHand) {
  auto scheduler = CreateTaskScheduler("gradient", {});
  // 2 slots: no recent gain yet; 0.8 * 10 / 2 = 4.
  const TaskProgress young = ProgressBySlot(1, {12, 10});
  // 5 slots: 0.2 * (18 - 9) / 3 + 0.8 * 9 / 5 = 0.6 + 1.44 = 2.04, times weight.
  const TaskProgress steep = ProgressBySlot(1, {20, 18, 15, 11, 9});
  const TaskProgress steep_twice = ProgressBySlot(2, {20, 18, 15, 11, 9});
  // 5 slots: 0.2 * 0 + 0.8 * 20 / 5 = 3.2: the flat one, with more to gain in hope.
  const TaskProgress flat = ProgressBySlot(1, {20, 20, 20, 20, 20});
  EXPECT_EQ(scheduler->Next(std::vector{steep, young, flat}), 1);
  EXPECT_EQ(scheduler->Next(std::vector{steep, flat}), 1);
  EXPECT_EQ(scheduler->Next(std::vector{steep_twice, flat}), 0);         // 4.08 > 3.2
  EXPECT_EQ(scheduler->Next(std::vector{flat, steep_twice, young}), 1);  // 4.08 > 4
}

TEST(GradientSchedulerTest, TheRecentGainCountsWithItsWindowAndWeight) {
  const std::vector<TaskProgress> tasks = {ProgressBySlot(1, {40, 10, 10, 10, 10}),
                                           ProgressBySlot(1, {12, 12, 12, 11, 10.5})};
  // Window 3, alpha 1: (10 - 10) / 3 < (12 - 10.5) / 3. Window 4: (40 - 10) / 4 > 1.5 / 4.
  EXPECT_EQ(CreateTaskScheduler("gradient", {.gradient_alpha = 1})->Next(tasks), 1);
  EXPECT_EQ(
      CreateTaskScheduler("gradient", {.gradient_alpha = 1, .gradient_window = 4})->Next(tasks), 0);
}

TEST(GradientSchedulerTest, TasksWithoutFeasibleProgramComeLastAndFinishedOnesNever) {
  auto scheduler = CreateTaskScheduler("gradient", {});
  std::vector<TaskProgress> tasks = {ProgressBySlot(9, {INFINITY, INFINITY}),
                                     ProgressBySlot(1, {0.001})};
  EXPECT_EQ(scheduler->Next(tasks), 1);
  tasks[1].finished = true;
  EXPECT_EQ(scheduler->Next(tasks), 0);
  tasks[0].finished = true;
  EXPECT_EQ(scheduler->Next(tasks), -1);
}

TEST(GradientSchedulerTest, AmongEqualsTheChoiceIsRandomButRepeatable) {
  const std::vector<TaskProgress> tasks(4, ProgressBySlot(1, {3, 2}));
  std::set<int> chosen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const int choice = CreateTaskScheduler("gradient", {.seed = seed})->Next(tasks);
    EXPECT_EQ(choice, CreateTaskScheduler("gradient", {.seed = seed})->Next(tasks));
    chosen.insert(choice);
  }
  EXPECT_EQ(chosen, (std::set<int>{0, 1, 2, 3}));
}

TEST(RoundRobinSchedulerTest, TurnsRoundAndSkipsFinishedTasks) {
  auto scheduler = CreateTaskScheduler("round-robin", {});
  std::vector<TaskProgress> tasks(3);
  tasks[1].finished = true;
  std::vector<int> order;
  for (int turn = 0; turn < 4; ++turn) {
    order.push_back(scheduler->Next(tasks));
    tasks[order.back()].best_after_trial.push_back(1);
    tasks[order.back()].slot_ends.push_back(tasks[order.back()].trials());
  }
  EXPECT_EQ(order, (std::vector<int>{0, 2, 0, 2}));
}

/// The order of slots of so many trials.
std::vector<int> SequentialOrder(std::vector<TaskProgress> tasks, int64_t trials, int slot) {
  auto scheduler = CreateTaskScheduler("sequential", {.max_trials = trials});
  std::vector<int> order;
  for (int64_t spent = 0; spent < trials; spent += slot) {
    order.push_back(scheduler->Next(tasks));
    std::vector<double>& found = tasks[order.back()].best_after_trial;
    found.insert(found.end(), slot, 1.0);
  }
  return order;
}

TEST(SequentialSchedulerTest, LeavesTheShareOfAFinishedTaskToTheNext) {
  std::vector<TaskProgress> tasks(3);
  tasks[1].finished = true;
  EXPECT_EQ(SequentialOrder(tasks, 12, 2), (std::vector<int>{0, 0, 2, 2, 2, 2}));
  tasks[2].finished = true;
  EXPECT_EQ(SequentialOrder(tasks, 12, 2), (std::vector<int>{0, 0, 0, 0, 0, 0}));
}

TEST(SequentialSchedulerTest, WithoutABudgetStaysWithTheFirst) {
  auto scheduler =
      CreateTaskScheduler("sequential", {.max_trials = std::numeric_limits<int64_t>::max()});
  std::vector<TaskProgress> tasks(3);
  tasks[0].finished = true;
  EXPECT_EQ(scheduler->Next(tasks), 1);
}

TEST(SequentialSchedulerTest, SlotsThatAreNoPartOfAShareLeaveNoTaskWithout) {
  const std::vector<int> order = SequentialOrder(std::vector<TaskProgress>(18), 480, 13);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  for (int task = 0; task < 18; ++task) {
    const auto slots = std::count(order.begin(), order.end(), task);
    EXPECT_GE(slots, 2) << task;
    EXPECT_LE(slots, 3) << task;
  }
}

}  // namespace
}  // namespace bayloom::scheduling
