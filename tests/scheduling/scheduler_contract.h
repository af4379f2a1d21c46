// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {

/// What every scheduler promises; instantiated with the names of each module's.
class SchedulerContract : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int kSlot = 8;

  static std::unique_ptr<TaskScheduler> Make(uint64_t seed = 1) {
    return CreateTaskScheduler(GetParam(),
                               {.seed = seed, .max_trials = 480, .trials_per_slot = kSlot});
  }
};

inline std::string SchedulerCaseName(const testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace bayloom::scheduling
