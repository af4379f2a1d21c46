// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bayloom/base/result.h"

namespace bayloom::scheduling {
namespace {

struct Maker {
  const char* name;
  std::unique_ptr<TaskScheduler> (*make)(const TaskSchedulerOptions&);
  bool uses_lower_bounds = false;
};

constexpr Maker kMakers[] = {
    {"dynamic-random", MakeDynamicRandomScheduler},
    {"dynamic-round-robin", MakeDynamicRoundRobinScheduler},
    {"dynatune", MakeDynaTuneScheduler, true},
    {"epsilon-greedy", MakeEpsilonGreedyScheduler, true},
    {"gradient", MakeGradientScheduler},
    {"linear", MakeLinearScheduler},
    {"random", MakeRandomScheduler},
    {"round-robin", MakeRoundRobinScheduler},
    {"sequential", MakeSequentialScheduler},
    {"softmax", MakeSoftmaxScheduler, true},
};

}  // namespace

std::vector<std::string> TaskSchedulerNames() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.push_back(maker.name);
  return names;
}

bool UsesLowerBounds(const std::string& name) {
  for (const Maker& maker : kMakers) {
    if (name == maker.name) return maker.uses_lower_bounds;
  }
  return false;
}

std::unique_ptr<TaskScheduler> CreateTaskScheduler(const std::string& name,
                                                   const TaskSchedulerOptions& options) {
  for (const Maker& maker : kMakers) {
    if (name == maker.name) return maker.make(options);
  }
  throw InputError(fmt::format("unknown task scheduler '{}': choose one of {}", name,
                               fmt::join(TaskSchedulerNames(), ", ")));
}

}  // namespace bayloom::scheduling
