// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/scheduling/task_progress.h"

namespace bayloom::scheduling {

/// The unfinished tasks.
std::vector<int> UnfinishedTasks(std::span<const TaskProgress> tasks);

/// The unfinished tasks that found something better within their last `patience` trials (Zhang et
/// al. 2021, section 5.3); all unfinished ones where that is none, so that a budget is used up.
std::vector<int> ImprovingTasks(std::span<const TaskProgress> tasks, int patience);

}  // namespace bayloom::scheduling
