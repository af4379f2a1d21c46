#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bayloom/record/program_pool.h"

namespace bayloom {

/// Tasks to train on, and groups with nothing but tasks that are not trained on.
struct TaskSplit {
  std::vector<TaskId> training;
  std::vector<PoolGroup> test;
};

/// Holds out whole groups (networks), with every task of theirs; without names, a share of all
/// tasks drawn at random. Throws InputError for a group there is not.
TaskSplit SplitTasks(const std::vector<PoolGroup>& groups, const std::vector<std::string>& held_out,
                     double test_share, uint64_t seed);

}  // namespace bayloom
