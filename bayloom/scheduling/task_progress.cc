// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/task_progress.h"

namespace bayloom::scheduling {

double CostOfTheWhole(std::span<const TaskProgress> tasks) {
  double sum = 0;
  for (const TaskProgress& task : tasks) {
    if (task.weight > 0) sum += task.weight * task.best();
  }
  return sum;
}

}  // namespace bayloom::scheduling
