// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/scheduling/early_termination.h"

#include <algorithm>

namespace bayloom::scheduling {
namespace {

bool HasImproved(const TaskProgress& task, int patience) {
  if (task.trials() <= patience) return true;
  return task.best() < task.best_after_trial[task.trials() - 1 - patience];
}

}  // namespace

std::vector<int> UnfinishedTasks(std::span<const TaskProgress> tasks) {
  std::vector<int> unfinished;
  for (int i = 0; i < static_cast<int>(tasks.size()); ++i) {
    if (!tasks[i].finished) unfinished.push_back(i);
  }
  return unfinished;
}

std::vector<int> ImprovingTasks(std::span<const TaskProgress> tasks, int patience) {
  std::vector<int> unfinished = UnfinishedTasks(tasks);
  std::vector<int> improving;
  for (int i : unfinished) {
    if (HasImproved(tasks[i], patience)) improving.push_back(i);
  }
  return improving.empty() ? unfinished : improving;
}

}  // namespace bayloom::scheduling
