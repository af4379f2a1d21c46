// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/registry.h"
#include "bayloom/scheduling/task_progress.h"

namespace bayloom::scheduling {

/// Decides which task gets the next slot of trials, so that the weighted sum of the tasks' best
/// costs falls early.
///
/// What a scheduler knows is in the tasks' progress, so that a resumed session goes on as the
/// interrupted one would have done; state of its own may only be a cache.
class TaskScheduler {
 public:
  virtual ~TaskScheduler() = default;
  virtual std::string name() const = 0;
  /// Index of an unfinished task, or -1 if all are finished. Tasks keep their places from call to
  /// call.
  virtual int Next(std::span<const TaskProgress> tasks) = 0;
};

struct TaskSchedulerOptions {
  uint64_t seed = 0;
  /// Trials of the whole session: what the static schedulers divide.
  int64_t max_trials = 0;
  /// Trials of a slot: how far forecasts look ahead.
  int trials_per_slot = 16;

  /// Gradient: weight of the recent gain against the optimistic guess, and the slots "recent"
  /// means. MetaSchedule's defaults.
  double gradient_alpha = 0.2;
  int gradient_window = 3;

  /// Early termination, by dynatune and experimental schedulers: a task without a better
  /// configuration for so many trials gets slots only when there is no other. Zhang et al.'s.
  int patience = 200;
  /// C of DynaTune's upper confidence bound sqrt(C log t / picks).
  double exploration = 0.03;
  /// The cost that bound is measured in. 0: what the task could gain at most, down to its lower
  /// bound: such is the confidence interval of a mean of gains (Hoeffding 1963), and nothing
  /// depends on units. Zhang et al. count in milliseconds (1e-3 here) and take C = 2, or 0.2 for
  /// networks that begin below 1 ms.
  double exploration_unit = 0;
};

/// What makes a scheduler.
struct TaskSchedulerMaker {
  std::function<std::unique_ptr<TaskScheduler>(const TaskSchedulerOptions&)> make;
  bool uses_lower_bounds = false;  ///< looks at TaskProgress::lower_bound
};

/// All schedulers by name.
base::Registry<TaskSchedulerMaker>& TaskSchedulers();
/// Throws InputError for a name it does not know.
std::unique_ptr<TaskScheduler> CreateTaskScheduler(const std::string& name,
                                                   const TaskSchedulerOptions& options);

// Static: decided beforehand (Zhang et al. 2021, section 5.2).

/// "sequential": one task after the other, each for its equal share of the session's trials; what
/// a task leaves over, being finished, goes to the next, and in the end to the first that can still
/// use it.
std::unique_ptr<TaskScheduler> MakeSequentialScheduler(const TaskSchedulerOptions& options);
/// "random": any unfinished task, all alike.
std::unique_ptr<TaskScheduler> MakeRandomScheduler(const TaskSchedulerOptions& options);
/// "round-robin": the task with the fewest slots so far, the first of them.
std::unique_ptr<TaskScheduler> MakeRoundRobinScheduler(const TaskSchedulerOptions& options);
/// "linear": one slot each, then trials in proportion to weight * work. Where no work is known,
/// in proportion to the weights.
std::unique_ptr<TaskScheduler> MakeLinearScheduler(const TaskSchedulerOptions& options);

// Dynamic: decided by the progress of the tasks.

/// "gradient": one slot each, then the task with the largest expected gain of the whole per slot
/// (MetaSchedule's form of Ansor's scheduler, Zheng et al. 2020, section 6):
///
///     weight * [alpha * (L[n-1-k] - L[n-1]) / k + (1 - alpha) * L[n-1] / n]
///
/// with L the best cost after each of the task's n slots and k the window; the first term is 0
/// while n <= k. The weight is TaskProgress::importance, here and below. Tasks without a feasible
/// configuration come last; among equals the choice is random.
std::unique_ptr<TaskScheduler> MakeGradientScheduler(const TaskSchedulerOptions& options);

/// "dynatune": one slot each, then the task with the largest upper confidence bound of the gain
/// that learning_curve_forecast.h predicts, in proportion to the time a slot takes (section 4.2):
///
///     weight * (cost now - cost expected after the slot) + unit * sqrt(C * log(t) / picks)
///
/// (for a slot as long as the mean one, where the trials' durations are known) with `unit` as
/// exploration_unit says, t the slots of all tasks and `picks` those of this one.
std::unique_ptr<TaskScheduler> MakeDynaTuneScheduler(const TaskSchedulerOptions& options);

/// "expected-improvement": the task whose next slot is expected to lower the whole the most, until
/// all have a cost; then "gradient". A slot is worth what it lowers the best cost by, which makes
/// this the knowledge gradient of the slot as well (Frazier et al. 2008). How fast tasks improve is
/// learnt from all of them together (improvement_rates.h). What a trial takes does not count.
///
/// A task that has had no slot competes with the others by what the limits of the machine say of it
/// (TaskProgress::expected_cost), corrected by how far those that have had one are from that. It
/// comes first where nothing is known of it, and once the others have had two slots for each task
/// or the trials left are only enough for one slot each.
std::unique_ptr<TaskScheduler> MakeExpectedImprovementScheduler(
    const TaskSchedulerOptions& options);

}  // namespace bayloom::scheduling
