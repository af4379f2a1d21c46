// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
  /// Trials of a slot: how far beliefs look ahead.
  int trials_per_slot = 16;

  /// Gradient: weight of the recent gain against the optimistic guess, and the slots "recent"
  /// means. MetaSchedule's defaults.
  double gradient_alpha = 0.2;
  int gradient_window = 3;

  /// Early termination, by all but the static schedulers and gradient: a task without a better
  /// configuration for so many trials gets slots only when there is no other. Zhang et al.'s.
  int patience = 200;
  /// C of DynaTune's upper confidence bound sqrt(C log t / picks).
  double exploration = 0.03;
  /// The cost that bound is measured in. 0: what the task could gain at most, down to its lower
  /// bound: such is the confidence interval of a mean of gains (Hoeffding 1963), and nothing
  /// depends on units. Zhang et al. count in milliseconds (1e-3 here) and take C = 2, or 0.2 for
  /// networks that begin below 1 ms.
  double exploration_unit = 0;
  /// Epsilon-greedy: how often the choice is random.
  double epsilon = 0.05;
  /// Softmax: the difference in gain, as a share of the largest gain, that makes a task e times
  /// less likely.
  double temperature = 0.25;
};

/// The names CreateTaskScheduler understands.
std::vector<std::string> TaskSchedulerNames();
/// Whether the scheduler of this name looks at TaskProgress::lower_bound.
bool UsesLowerBounds(const std::string& name);
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

// Dynamic allocation: tasks that stopped improving rest (section 5.3).

/// "dynamic-random": any task that does not rest, all alike.
std::unique_ptr<TaskScheduler> MakeDynamicRandomScheduler(const TaskSchedulerOptions& options);
/// "dynamic-round-robin": the task with the fewest slots of those that do not rest.
std::unique_ptr<TaskScheduler> MakeDynamicRoundRobinScheduler(const TaskSchedulerOptions& options);

/// "gradient": one slot each, then the task with the largest expected gain of the whole per slot
/// (MetaSchedule's form of Ansor's scheduler, Zheng et al. 2020, section 6):
///
///     weight * [alpha * (L[n-1-k] - L[n-1]) / k + (1 - alpha) * L[n-1] / n]
///
/// with L the best cost after each of the task's n slots and k the window; the first term is 0
/// while n <= k. Tasks without a feasible configuration come last; among equals the choice is
/// random.
std::unique_ptr<TaskScheduler> MakeGradientScheduler(const TaskSchedulerOptions& options);

// By what a slot is believed to bring (see belief.h), in proportion to the time it takes; one slot
// each comes first, then tasks without a feasible configuration are thought worth as much as the
// best of the others.

/// "dynatune": the largest upper confidence bound of the gain (section 4.2):
///
///     weight * (cost now - cost expected after the slot) + unit * sqrt(C * log(t) / picks)
///
/// (for a slot as long as the mean one, where the trials' durations are known) with `unit` as
/// exploration_unit says, t the slots of all tasks and `picks` those of this one.
std::unique_ptr<TaskScheduler> MakeDynaTuneScheduler(const TaskSchedulerOptions& options);
/// "epsilon-greedy": the largest expected gain, now and then any task (appendix A).
std::unique_ptr<TaskScheduler> MakeEpsilonGreedyScheduler(const TaskSchedulerOptions& options);
/// "softmax": by chance, the likelier the larger the expected gain (appendix A).
std::unique_ptr<TaskScheduler> MakeSoftmaxScheduler(const TaskSchedulerOptions& options);

}  // namespace bayloom::scheduling
