#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/tuning/task_progress.h"

namespace bayloom {

/// Decides which task gets the next slot of trials.
///
/// What a scheduler knows is in the tasks' progress, so that a resumed session goes on as the
/// interrupted one would have done; state of its own may only be a cache.
class TaskScheduler {
 public:
  virtual ~TaskScheduler() = default;
  virtual std::string name() const = 0;
  /// Index of an unfinished task, or -1 if all are finished.
  virtual int Next(std::span<const TaskProgress> tasks) = 0;
};

struct TaskSchedulerOptions {
  uint64_t seed = 0;
  /// Trials of the whole session: what the sequential scheduler divides equally.
  int64_t max_trials = 0;
  /// Gradient: weight of the recent gain against the optimistic guess, and the slots "recent"
  /// means. MetaSchedule's defaults.
  double gradient_alpha = 0.2;
  int gradient_window = 3;
};

/// The names CreateTaskScheduler understands.
std::vector<std::string> TaskSchedulerNames();
/// Throws InputError for a name it does not know.
std::unique_ptr<TaskScheduler> CreateTaskScheduler(const std::string& name,
                                                   const TaskSchedulerOptions& options);

/// "sequential": one task after the other, each for its equal share of the session's trials; what
/// tasks finished early leave over goes to the first that can still use it.
std::unique_ptr<TaskScheduler> MakeSequentialScheduler(const TaskSchedulerOptions& options);
/// "round-robin": the task with the fewest slots so far, the first of them.
std::unique_ptr<TaskScheduler> MakeRoundRobinScheduler(const TaskSchedulerOptions& options);
/// "gradient": one slot each, then the task with the largest expected gain of the whole per slot
/// (MetaSchedule's form of Ansor's scheduler, Zheng et al. 2020, section 6):
///
///     weight * [alpha * (L[n-1-k] - L[n-1]) / k + (1 - alpha) * L[n-1] / n]
///
/// with L the best latency after each of the task's n slots and k the window; the first term is 0
/// while n <= k. Tasks without a feasible program come last; among equals the choice is random.
std::unique_ptr<TaskScheduler> MakeGradientScheduler(const TaskSchedulerOptions& options);

}  // namespace bayloom
