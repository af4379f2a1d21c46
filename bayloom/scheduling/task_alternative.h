// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <vector>

#include "bayloom/scheduling/task_progress.h"

namespace bayloom::scheduling {

/// A task that computes what several others compute together: the whole needs either the one or
/// the others, whichever cost less. Tasks are named by their places.
struct TaskAlternative {
  int together = -1;
  std::vector<int> apart;  ///< a task that is needed twice is named twice
  double count = 1;        ///< how often one run of the whole has this choice

  /// Whether the one costs less than the others, whose costs are infinite while they are not known.
  bool IsTogether(std::span<const double> costs) const;
};

/// The tasks' weights where each choice is made for what costs less. `weights`: as if all were made
/// for the tasks apart.
std::vector<double> DivideWeights(std::vector<double> weights,
                                  std::span<const TaskAlternative> alternatives,
                                  std::span<const double> costs);

/// Sets the weights of tasks by their costs so far, as DivideWeights does, and the chances of those
/// that cost more:
///
///     chance = count * max(0, 1 - behind / gain)      gain = sum over the side's tasks of best / n
///
/// `behind` is what the side costs more than the other one, n the slots that a task had, and best
/// / n what Ansor's scheduler optimistically expects the next slot to gain (MakeGradientScheduler).
/// So a task's weighted gain counts only as far as it is expected to bring the side before the
/// other, and a side that is behind by all that it may still gain has no chance any more: with n
/// slots, one that costs n / (n - 1) times as much. A side whose tasks were not all tried has every
/// chance; one without a feasible configuration after kHopelessSlots has none.
void Divide(std::span<TaskProgress> tasks, std::span<const double> weights,
            std::span<const TaskAlternative> alternatives);

}  // namespace bayloom::scheduling
