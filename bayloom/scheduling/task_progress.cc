// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_progress.h"

namespace bayloom::scheduling {

double CostOfTheWhole(std::span<const TaskProgress> tasks) {
  double sum = 0;
  for (const TaskProgress& task : tasks) {
    if (task.weight == 0) continue;
    sum += task.weight * (std::isfinite(task.best()) ? task.best() : task.zero_trial_cost);
  }
  return sum;
}

int CountEstimated(std::span<const TaskProgress> tasks) {
  return static_cast<int>(std::ranges::count_if(tasks, [](const TaskProgress& task) {
    return task.weight > 0 && std::isinf(task.best()) && std::isfinite(task.zero_trial_cost);
  }));
}

}  // namespace bayloom::scheduling
