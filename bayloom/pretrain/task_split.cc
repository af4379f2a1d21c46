// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/task_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"

namespace bayloom::pretrain {

TaskSplit SplitTasks(const std::vector<record::PoolGroup>& groups,
                     const std::vector<std::string>& held_out, double test_share, uint64_t seed) {
  std::set<record::TaskId> all, test;
  for (const record::PoolGroup& group : groups) {
    for (const record::PoolGroup::Member& member : group.members) all.insert(member.task);
  }
  for (const std::string& name : held_out) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const record::PoolGroup& g) { return g.name == name; });
    if (group == groups.end()) {
      throw InputError(fmt::format("the pool has no network or family '{}'", name));
    }
    for (const record::PoolGroup::Member& member : group->members) test.insert(member.task);
  }
  if (held_out.empty()) {
    std::vector<record::TaskId> order(all.begin(), all.end());
    base::RandomStream(seed).Shuffle(order);
    order.resize(std::lround(test_share * static_cast<double>(order.size())));
    test.insert(order.begin(), order.end());
  }
  TaskSplit split;
  std::set_difference(all.begin(), all.end(), test.begin(), test.end(),
                      std::back_inserter(split.training));
  for (record::PoolGroup group : groups) {
    const bool is_test = held_out.empty() ||
                         std::find(held_out.begin(), held_out.end(), group.name) != held_out.end();
    std::erase_if(group.members, [&](const record::PoolGroup::Member& member) {
      return !test.contains(member.task);
    });
    if (is_test && !group.members.empty()) split.test.push_back(std::move(group));
  }
  return split;
}

}  // namespace bayloom::pretrain
