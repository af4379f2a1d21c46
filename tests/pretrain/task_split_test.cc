// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/task_split.h"

#include <gtest/gtest.h>

#include <set>

#include "bayloom/base/result.h"

namespace bayloom::pretrain {
namespace {

const std::vector<record::PoolGroup> kGroups = {
    {"bert", {{1, 2}, {2, 1}}}, {"conv2d", {{3, 1}, {4, 1}, {5, 1}}}, {"resnet", {{4, 3}, {6, 1}}}};

TEST(SplitTasks, HoldsOutEveryTaskOfANetwork) {
  const TaskSplit split = SplitTasks(kGroups, {"resnet"}, 0.5, 1);
  EXPECT_EQ(split.training, (std::vector<record::TaskId>{1, 2, 3, 5}));
  ASSERT_EQ(split.test.size(), 1u);
  EXPECT_EQ(split.test[0].name, "resnet");
  EXPECT_EQ(split.test[0].members.size(), 2u);
  EXPECT_THROW(SplitTasks(kGroups, {"vgg"}, 0.5, 1), InputError);
}

TEST(SplitTasks, WithoutNamesHoldsOutAShareOfTheTasks) {
  const TaskSplit split = SplitTasks(kGroups, {}, 0.34, 1);
  EXPECT_EQ(split.training.size(), 4u);
  std::set<record::TaskId> test;
  for (const record::PoolGroup& group : split.test) {
    for (const record::PoolGroup::Member& member : group.members) test.insert(member.task);
  }
  EXPECT_EQ(test.size(), 2u);
  for (const record::TaskId task : split.training) EXPECT_FALSE(test.contains(task));
  EXPECT_NE(SplitTasks(kGroups, {}, 0.5, 2).training, SplitTasks(kGroups, {}, 0.5, 3).training);
}

}  // namespace
}  // namespace bayloom::pretrain
