// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {

base::Registry<TaskSchedulerMaker>& TaskSchedulers() {
  static base::Registry<TaskSchedulerMaker> schedulers(
      "task scheduler",
      {{"gradient",
        "the largest gain per slot, by recent slots and an optimistic estimate (Ansor)",
        {MakeGradientScheduler}},
       {"dynatune",
        "the largest upper confidence bound of the gain that learning curves predict",
        {MakeDynaTuneScheduler, true}},
       {"expected-improvement",
        "the largest improvement that is expected from how all tasks improve; as gradient once all "
        "were tried",
        {MakeExpectedImprovementScheduler}},
       {"round-robin", "all in turn", {MakeRoundRobinScheduler}},
       {"sequential", "one after the other, each for an equal share", {MakeSequentialScheduler}},
       {"linear",
        "the one furthest behind its share, in proportion to its arithmetic",
        {MakeLinearScheduler}},
       {"random", "any", {MakeRandomScheduler}}});
  return schedulers;
}

std::unique_ptr<TaskScheduler> CreateTaskScheduler(const std::string& name,
                                                   const TaskSchedulerOptions& options) {
  return TaskSchedulers().At(name).make(options);
}

}  // namespace bayloom::scheduling
