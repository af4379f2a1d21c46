// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_alternative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/scheduling/curves.h"

namespace bayloom::scheduling {
namespace {

using testing::ElementsAre;

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// A task that costs the same after each of its slots of eight trials.
TaskProgress After(int slots, double cost) {
  if (slots == 0) return {};
  return Progress(std::vector<double>(8 * slots, cost));
}

TEST(TaskAlternative, TheWholeRunsWhatCostsLess) {
  const std::vector<TaskAlternative> choices = {{.together = 2, .apart = {0, 1}, .count = 3}};
  EXPECT_THAT(DivideWeights({5, 3, 0}, choices, std::vector<double>{1, 2, 2.9}),
              ElementsAre(2, 0, 3));
  EXPECT_THAT(DivideWeights({5, 3, 0}, choices, std::vector<double>{1, 2, 3}),
              ElementsAre(5, 3, 0));
}

TEST(TaskAlternative, WhatIsNotKnownIsNotTaken) {
  const TaskAlternative choice = {.together = 2, .apart = {0, 1}};
  EXPECT_FALSE(choice.IsTogether(std::vector<double>{1, 2, kUnknown}));
  EXPECT_TRUE(choice.IsTogether(std::vector<double>{kUnknown, 2, 100}));
  EXPECT_FALSE(choice.IsTogether(std::vector<double>{kUnknown, 2, kUnknown}));
}

TEST(TaskAlternative, SeveralChoicesMayShareTasks) {
  const std::vector<TaskAlternative> choices = {{.together = 3, .apart = {0, 1}, .count = 1},
                                                {.together = 4, .apart = {0, 2}, .count = 2},
                                                {.together = 5, .apart = {1, 1}, .count = 1}};
  EXPECT_THAT(DivideWeights({4, 3, 2, 0, 0, 0}, choices, std::vector<double>{4, 4, 4, 9, 7, 7}),
              ElementsAre(2, 1, 0, 0, 2, 1));
}

TEST(TaskAlternative, ASideThatIsBehindHasLessOfAChanceTheMoreSlotsItHad) {
  const std::vector<TaskAlternative> choices = {{.together = 2, .apart = {0, 1}, .count = 2}};
  double last = 3;
  for (const int slots : {0, 1, 2, 3, 4, 5, 6}) {
    std::vector<TaskProgress> tasks = {After(4, 6), After(4, 4), After(slots, 12)};
    Divide(tasks, std::vector<double>{2, 2, 0}, choices);
    EXPECT_EQ(tasks[0].weight, 2);
    EXPECT_EQ(tasks[2].weight, 0);
    EXPECT_EQ(tasks[0].chance, 0);
    EXPECT_LE(tasks[2].chance, last);
    last = tasks[2].chance;
    // It is 2 behind, and may gain 12 / slots.
    const double expected = slots == 0 ? 2 : 2 * (1 - 2.0 * slots / 12);
    EXPECT_NEAR(tasks[2].chance, expected, 1e-12) << slots;
  }
  EXPECT_EQ(last, 0);
}

TEST(TaskAlternative, TasksApartHaveTheirChanceTogether) {
  const std::vector<TaskAlternative> choices = {{.together = 2, .apart = {0, 1}}};
  std::vector<TaskProgress> tasks = {After(2, 6), After(4, 4), After(8, 8)};
  Divide(tasks, std::vector<double>{1, 5, 0}, choices);
  EXPECT_EQ(tasks[0].weight, 0);
  EXPECT_EQ(tasks[1].weight, 4) << "elsewhere it is run without a choice";
  EXPECT_EQ(tasks[2].weight, 1);
  const double gain = 6.0 / 2 + 4.0 / 4;  // and 2 behind
  EXPECT_NEAR(tasks[0].chance, 1 - 2 / gain, 1e-12);
  EXPECT_NEAR(tasks[1].importance(), 4 + 1 - 2 / gain, 1e-12);
  EXPECT_EQ(CostOfTheWhole(tasks), 8 + 4 * 4);
}

TEST(TaskAlternative, ASideWithoutAFeasibleConfigurationIsGivenUp) {
  const std::vector<TaskAlternative> choices = {{.together = 2, .apart = {0, 1}}};
  for (const int slots : {0, 1, kHopelessSlots - 1, kHopelessSlots}) {
    std::vector<TaskProgress> tasks = {After(1, 6), After(1, 4), After(slots, kUnknown)};
    Divide(tasks, std::vector<double>{1, 1, 0}, choices);
    EXPECT_EQ(tasks[2].chance, slots < kHopelessSlots ? 1 : 0) << slots;
    EXPECT_EQ(CostOfTheWhole(tasks), 10);
  }
}

/// Until a side is known the tasks apart count, and the whole has no cost yet.
TEST(TaskAlternative, BeforeTheFirstSlotAllTasksCount) {
  const std::vector<TaskAlternative> choices = {{.together = 2, .apart = {0, 1}}};
  std::vector<TaskProgress> tasks(3);
  Divide(tasks, std::vector<double>{1, 1, 0}, choices);
  for (const TaskProgress& task : tasks) EXPECT_EQ(task.importance(), 1);
  EXPECT_EQ(CostOfTheWhole(tasks), kUnknown);
}

}  // namespace
}  // namespace bayloom::scheduling
