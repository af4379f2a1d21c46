// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bayloom/model/learning_curve.h"
#include "bayloom/scheduling/task_progress.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom::scheduling {

/// What more trials are predicted to gain (Zhang et al. 2021, section 4.3): the best performance
/// over the trials is extrapolated along a LearningCurve.
///
/// Performance is normalized as lower bound / cost: for operators of a network, the arithmetic
/// throughput as a share of the machine's peak. Where there is no lower bound, or it is not one, a
/// fraction of the best cost so far stands for it.
///
/// A task's forecast changes only with its own trials, so that one of them is recomputed for
/// every slot.
class LearningCurveForecast {
 public:
  explicit LearningCurveForecast(const TaskSchedulerOptions& options)
      : seed_(options.seed), trials_per_slot_(options.trials_per_slot) {}

  /// weight * (cost now - cost expected after one more slot) for each of `chosen`. A task without
  /// a feasible configuration is thought worth as much as the best of the others.
  std::vector<double> ExpectedGains(std::span<const TaskProgress> tasks,
                                    std::span<const int> chosen);

  /// The gain that trials for so many seconds (of TaskProgress::seconds) are expected to bring to
  /// all tasks together, as a share of the weighted sum of their best costs, if every slot goes to
  /// the task that gains the most a second: what is left on the table. nullopt while nothing can be
  /// said: a task has had no slot, has no feasible configuration after a few, or the duration of
  /// its trials is unknown. A task that still has none after several slots is left out; nothing
  /// is expected where that is true of all.
  std::optional<double> ShareWithin(std::span<const TaskProgress> tasks, double seconds);

 private:
  struct Known {
    int trials = 0;
    model::LearningCurve curve;
  };
  /// Of one run of the task, after so many more trials: at least those of a slot.
  double CostAfter(std::span<const TaskProgress> tasks, size_t index, int more_trials);

  uint64_t seed_;
  int trials_per_slot_;
  std::vector<std::optional<Known>> known_;  ///< by task
};

/// A cost that no configuration of the task is thought to beat: 4/5 of TaskProgress::lower_bound
/// (what was measured as a machine's peak is rarely its highest), or half of the best cost so
/// far where that is unknown or was beaten. The task has a feasible configuration.
double LowerBoundOf(const TaskProgress& task);

/// By task: the mean duration of a trial of all tasks over that of the task; 1 where it is unknown.
/// Slots are equally many trials, but time is what is short: a gain times the pace is what a slot
/// of the mean duration would bring.
std::vector<double> RatesOf(std::span<const TaskProgress> tasks);

/// The first unfinished task that has had no slot yet; nullopt if each has.
std::optional<int> FirstUntried(std::span<const TaskProgress> tasks);

}  // namespace bayloom::scheduling
