// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bayloom/record/program_pool.h"

namespace bayloom::pretrain {

/// Tasks to train on, and groups with only tasks that are not trained on.
struct TaskSplit {
  std::vector<record::TaskId> training;
  std::vector<record::PoolGroup> test;
};

/// Holds out whole groups (networks), with every task of theirs; without names, a share of all
/// tasks drawn at random. Throws InputError for a group there is not.
TaskSplit SplitTasks(const std::vector<record::PoolGroup>& groups,
                     const std::vector<std::string>& held_out, double test_share, uint64_t seed);

}  // namespace bayloom::pretrain
